package io.takofs.hadoop.internal;

import io.takofs.client.TakoClient;
import java.io.IOException;
import java.net.URI;
import java.util.HashMap;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;

/**
 * Clients shared by the file systems of one server, user and configuration. Hadoop makes an
 * AbstractFileSystem for every FileContext and drops it without closing it. A request for another
 * client drops those without a connection from the cache: their users can go on using them, and
 * they hold nothing but memory.
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
      CLIENTS.values().removeIf(other -> other != client && !other.isConnected());
      if (client != null) {
        return client;
      }
      TakoClient made = FileSystemOperations.connect(uri, ClientConfig.of(conf), user);
      CLIENTS.put(key, made);
      return made;
    }
  }

  /** The number of cached clients. */
  static int count() {
    synchronized (CLIENTS) {
      return CLIENTS.size();
    }
  }
}
