import java.net.InetSocketAddress;
import java.nio.file.Path;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hive.metastore.HiveMetaStore;
import org.apache.hadoop.hive.metastore.RetryingHMSHandler;
import org.apache.hadoop.hive.metastore.TSetIpAddressProcessor;
import org.apache.hadoop.hive.metastore.conf.MetastoreConf;
import org.apache.hadoop.hive.metastore.txn.TxnDbUtil;
import org.apache.thrift.protocol.TBinaryProtocol;
import org.apache.thrift.server.TThreadPoolServer;
import org.apache.thrift.transport.TServerSocket;
import org.apache.thrift.transport.TTransportFactory;

/** A Hive Metastore for tests: Derby in a folder, and only this machine can reach it (Hive's own main listens everywhere). */
public final class HiveMetastore {
    public static void main(String[] words) throws Exception {
        Path folder = Path.of(words[0]).toAbsolutePath();
        int port = Integer.parseInt(words[1]);
        Configuration conf = settings(folder);
        for (int each = 2; each < words.length; each++) {
            String[] pair = words[each].split("=", 2);
            conf.set(pair[0], pair[1]);
        }
        TxnDbUtil.setConfValues(conf);
        TxnDbUtil.prepDb(conf);
        var handler = RetryingHMSHandler.getProxy(conf, new HiveMetaStore.HMSHandler("tests", conf, false), false);
        var server = new TThreadPoolServer(new TThreadPoolServer.Args(new TServerSocket(new InetSocketAddress("127.0.0.1", port)))
            .processor(new TSetIpAddressProcessor<>(handler))
            .transportFactory(new TTransportFactory())
            .protocolFactory(new TBinaryProtocol.Factory())
            .minWorkerThreads(2)
            .maxWorkerThreads(50));
        server.serve();
    }

    private static Configuration settings(Path folder) {
        Configuration conf = MetastoreConf.newMetastoreConf();
        String database = "jdbc:derby:" + folder.resolve("derby") + ";create=true";
        MetastoreConf.setVar(conf, MetastoreConf.ConfVars.CONNECT_URL_KEY, database);
        MetastoreConf.setVar(conf, MetastoreConf.ConfVars.CONNECTION_DRIVER, "org.apache.derby.jdbc.EmbeddedDriver");
        MetastoreConf.setVar(conf, MetastoreConf.ConfVars.WAREHOUSE, folder.resolve("warehouse").toUri().toString());
        MetastoreConf.setVar(conf, MetastoreConf.ConfVars.CONNECTION_POOLING_TYPE, "NONE");
        MetastoreConf.setBoolVar(conf, MetastoreConf.ConfVars.AUTO_CREATE_ALL, true);
        MetastoreConf.setBoolVar(conf, MetastoreConf.ConfVars.SCHEMA_VERIFICATION, false);
        // The defaults of these two name classes of Hive's own server.
        conf.set("metastore.task.threads.always", "org.apache.hadoop.hive.metastore.events.EventCleanerTask");
        conf.set("metastore.expression.proxy", "org.apache.hadoop.hive.metastore.DefaultPartitionExpressionProxy");
        conf.set("fs.defaultFS", "file:///");
        return conf;
    }
}
