package org.apache.iceberg.rest;

import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletRequestWrapper;
import jakarta.servlet.http.HttpServletResponse;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.sql.DriverManager;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.hadoop.conf.Configuration;
import org.apache.iceberg.Table;
import org.apache.iceberg.TableMetadataParser;
import org.apache.iceberg.catalog.TableIdentifier;
import org.apache.iceberg.jdbc.JdbcCatalog;
import org.eclipse.jetty.ee10.servlet.ServletContextHandler;
import org.eclipse.jetty.ee10.servlet.ServletHolder;
import org.eclipse.jetty.http.UriCompliance;
import org.eclipse.jetty.server.HttpConfiguration;
import org.eclipse.jetty.server.HttpConnectionFactory;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;

/**
 * Iceberg's own REST fixture on 127.0.0.1, a catalog of its own under each address /KIND/NAME: `plain` cannot register
 * over an entry, as Iceberg's JDBC catalog; `swap` can. The stock main binds every interface.
 *
 * <p>Arguments: PORT FOLDER [KEY=VALUE of the catalogs' properties ...].
 */
class RestServer extends HttpServlet {
  private final Path folder;
  private final Map<String, String> properties = new HashMap<>();
  private final Map<String, RESTCatalogServlet> catalogs = new ConcurrentHashMap<>();

  private RestServer(String[] args) {
    this.folder = Path.of(args[1]);
    for (int each = 2; each < args.length; each++) {
      String[] pair = args[each].split("=", 2);
      properties.put(pair[0], pair[1]);
    }
  }

  public static void main(String[] args) throws Exception {
    HttpConfiguration http = new HttpConfiguration();
    http.setUriCompliance(UriCompliance.UNSAFE); // names of tables may hold % and /
    Server server = new Server();
    ServerConnector connector = new ServerConnector(server, new HttpConnectionFactory(http));
    InetSocketAddress address = new InetSocketAddress("127.0.0.1", Integer.parseInt(args[0]));
    connector.setHost(address.getHostString());
    connector.setPort(address.getPort());
    server.addConnector(connector);
    ServletContextHandler context = new ServletContextHandler();
    context.getServletHandler().setDecodeAmbiguousURIs(true);
    context.addServlet(new ServletHolder(new RestServer(args)), "/*");
    server.setHandler(context);
    server.start();
    server.join();
  }

  @Override
  protected void service(HttpServletRequest request, HttpServletResponse response)
      throws jakarta.servlet.ServletException, java.io.IOException {
    String[] parts = request.getRequestURI().split("/", 4); // "", kind, name, the rest
    if (parts.length < 4) {
      response.sendError(404);
      return;
    }
    catalogs
        .computeIfAbsent(parts[1] + "-" + parts[2], key -> open(key, parts[1].equals("swap")))
        .service(
            new HttpServletRequestWrapper(request) {
              @Override
              public String getRequestURI() {
                return "/" + parts[3];
              }
            },
            response);
  }

  private RESTCatalogServlet open(String key, boolean swaps) {
    Map<String, String> own = new HashMap<>(properties);
    own.put("uri", "jdbc:sqlite:file:" + folder.resolve(key + ".db"));
    own.put("jdbc.schema-version", "V1");
    own.put("warehouse", properties.getOrDefault("warehouse", folder.toUri().toString()).replaceAll("/+$", "") + "/" + key);
    JdbcCatalog catalog = swaps ? new Swapping(own.get("uri")) : new JdbcCatalog();
    catalog.setConf(new Configuration());
    catalog.initialize("backend", own);
    RESTCatalogServer.CatalogContext context = new RESTCatalogServer.CatalogContext(catalog, own);
    return new RESTCatalogServlet(new RESTServerCatalogAdapter(context));
  }

  /** Registers over an entry, in one statement. */
  private static class Swapping extends JdbcCatalog {
    private final String uri;

    Swapping(String uri) {
      this.uri = uri;
    }

    @Override
    public Table registerTable(TableIdentifier name, String location, boolean overwrite) {
      if (!overwrite) {
        return registerTable(name, location);
      }
      TableMetadataParser.read(newTableOps(name).io().newInputFile(location));
      String statement =
          "UPDATE iceberg_tables SET previous_metadata_location = metadata_location, metadata_location = ?"
              + " WHERE table_namespace = ? AND table_name = ?";
      try (var connection = DriverManager.getConnection(uri);
          var update = connection.prepareStatement(statement)) {
        update.setString(1, location);
        update.setString(2, name.namespace().toString());
        update.setString(3, name.name());
        if (update.executeUpdate() == 0) {
          return registerTable(name, location);
        }
      } catch (java.sql.SQLException error) {
        throw new RuntimeException(error);
      }
      return loadTable(name);
    }
  }
}
