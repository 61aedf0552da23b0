package io.takofs.hadoop.internal;

import io.takofs.client.TakoClient;
import java.io.IOException;
import java.net.URI;
import java.util.HashMap;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;

/**
 * Clients of the file systems that nobody closes: Hadoop makes an AbstractFileSystem for every
 * FileContext and drops it. Those of one server, user and configuration share one client, which
 * lives as long as the process; an idle one is a connection and nothing more.
 *
 * <p>Thread rule: any thread.
 */
public final class SharedClients {
  private static final Map<Key, TakoClient> CLIENTS = new HashMap<>();

  private SharedClients() {}

  private record Key(URI uri, String user, Map<String, String> settings) {}

  /** The client of the server at {@code uri} for {@code user}. */
  public static TakoClient get(URI uri, String user, Configuration conf) throws IOException {
    Key key = new Key(uri, user, ClientConfig.settings(conf));
    synchronized (CLIENTS) {
      TakoClient client = CLIENTS.get(key);
      if (client == null) {
        client = FileSystemOperations.connect(uri, ClientConfig.of(conf), user);
        CLIENTS.put(key, client);
      }
      return client;
    }
  }
}
