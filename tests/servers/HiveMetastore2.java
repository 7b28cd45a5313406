import java.net.InetSocketAddress;
import java.nio.file.Path;
import org.apache.hadoop.hive.conf.HiveConf;
import org.apache.hadoop.hive.metastore.HiveMetaStore;
import org.apache.hadoop.hive.metastore.RetryingHMSHandler;
import org.apache.hadoop.hive.metastore.TSetIpAddressProcessor;
import org.apache.hadoop.hive.metastore.txn.TxnDbUtil;
import org.apache.thrift.protocol.TBinaryProtocol;
import org.apache.thrift.server.TThreadPoolServer;
import org.apache.thrift.transport.TServerSocket;
import org.apache.thrift.transport.TTransportFactory;

/** The same as HiveMetastore, of the release that Spark has among its own jars; it checks an expected parameter. */
public final class HiveMetastore2 {
    public static void main(String[] words) throws Exception {
        HiveConf conf = settings(Path.of(words[0]).toAbsolutePath());
        TxnDbUtil.setConfValues(conf);
        TxnDbUtil.prepDb(conf);
        var handler = RetryingHMSHandler.getProxy(conf, new HiveMetaStore.HMSHandler("tests", conf, false), false);
        var address = new InetSocketAddress("127.0.0.1", Integer.parseInt(words[1]));
        new TThreadPoolServer(new TThreadPoolServer.Args(new TServerSocket(address))
            .processor(new TSetIpAddressProcessor<>(handler))
            .transportFactory(new TTransportFactory())
            .protocolFactory(new TBinaryProtocol.Factory())).serve();
    }

    private static HiveConf settings(Path folder) {
        HiveConf conf = new HiveConf();
        conf.set("javax.jdo.option.ConnectionURL", "jdbc:derby:" + folder.resolve("derby") + ";create=true");
        conf.set("datanucleus.schema.autoCreateAll", "true");
        conf.set("datanucleus.connectionPoolingType", "NONE");
        conf.set("hive.metastore.schema.verification", "false");
        conf.set("hive.metastore.warehouse.dir", folder.resolve("warehouse").toUri().toString());
        // Its default names a class of Hive's own server.
        conf.set("hive.metastore.expression.proxy", "org.apache.hadoop.hive.metastore.DefaultPartitionExpressionProxy");
        conf.set("fs.defaultFS", "file:///");
        return conf;
    }
}
