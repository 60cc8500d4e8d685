import com.fasterxml.jackson.annotation.JsonAutoDetect.Visibility;
import com.fasterxml.jackson.annotation.PropertyAccessor;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.PropertyNamingStrategies;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.Map;
import java.util.concurrent.Executors;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.RawLocalFileSystem;
import org.apache.iceberg.jdbc.JdbcCatalog;
import org.apache.iceberg.rest.HTTPRequest.HTTPMethod;
import org.apache.iceberg.rest.RESTCatalogAdapter;
import org.apache.iceberg.rest.RESTRequest;
import org.apache.iceberg.rest.RESTResponse;
import org.apache.iceberg.rest.RESTSerializers;
import org.apache.iceberg.rest.requests.CreateNamespaceRequest;
import org.apache.iceberg.rest.requests.CreateTableRequest;
import org.apache.iceberg.rest.requests.UpdateTableRequest;
import org.apache.iceberg.rest.responses.ErrorResponse;

/** Iceberg's own REST catalog over HTTP, with its tables in SQLite. Arguments: a port, a folder. */
public final class RestCatalog extends RESTCatalogAdapter {
  private static final ObjectMapper JSON = new ObjectMapper();

  private RestCatalog(JdbcCatalog catalog) {
    super(catalog);
  }

  public static void main(String[] args) throws IOException {
    JSON.setVisibility(PropertyAccessor.FIELD, Visibility.ANY);
    JSON.configure(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES, false);
    JSON.setPropertyNamingStrategy(new PropertyNamingStrategies.KebabCaseStrategy());
    RESTSerializers.registerAll(JSON);
    JdbcCatalog catalog = new JdbcCatalog();
    Configuration files = new Configuration();
    files.set("fs.file.impl", RawLocalFileSystem.class.getName()); // no files with checksums beside
    catalog.setConf(files);
    catalog.initialize("rest", Map.of("uri", "jdbc:sqlite:" + args[1] + "/rest.db", "warehouse", args[1], "jdbc.schema-version", "V1"));
    RestCatalog served = new RestCatalog(catalog);
    HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", Integer.parseInt(args[0])), 0);
    server.setExecutor(Executors.newCachedThreadPool());
    server.createContext("/v1/", served::answer);
    server.start();
  }

  private void answer(HttpExchange asked) throws IOException {
    String path = asked.getRequestURI().getPath().substring(1);
    byte[] body = asked.getRequestBody().readAllBytes();
    int[] status = {200};
    byte[][] said = {new byte[0]};
    try {
      Object request = body.length == 0 ? null : JSON.readValue(body, kindOf(path));
      HTTPMethod method = HTTPMethod.valueOf(asked.getRequestMethod());
      RESTResponse response = execute(buildRequest(method, path, Map.of(), Map.of(), request), RESTResponse.class, error -> {
        status[0] = error.code();
        said[0] = json(error);
      }, headers -> {});
      if (response != null) {
        said[0] = json(response);
      }
    } catch (RuntimeException wrong) { // the handler of an error goes on to its end
      if (status[0] == 200) {
        status[0] = 500;
        wrong.printStackTrace();
      }
    }
    asked.getResponseHeaders().add("Content-Type", "application/json");
    boolean silent = asked.getRequestMethod().equals("HEAD") || said[0].length == 0;
    asked.sendResponseHeaders(silent && status[0] == 200 ? 204 : status[0], silent ? -1 : said[0].length);
    if (!silent) {
      asked.getResponseBody().write(said[0]);
    }
    asked.close();
  }

  private static Class<? extends RESTRequest> kindOf(String path) {
    if (path.endsWith("/namespaces")) {
      return CreateNamespaceRequest.class;
    }
    return path.endsWith("/tables") ? CreateTableRequest.class : UpdateTableRequest.class;
  }

  private static byte[] json(Object told) {
    try {
      return JSON.writeValueAsBytes(told);
    } catch (IOException wrong) {
      throw new java.io.UncheckedIOException(wrong);
    }
  }
}
