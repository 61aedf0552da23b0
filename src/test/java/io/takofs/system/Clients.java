package io.takofs.system;

import io.takofs.client.DirectoryIterator;
import io.takofs.client.PathStatus;
import io.takofs.client.TakoClient;
import io.takofs.client.TakoInputStream;
import io.takofs.config.TakoConfig;
import java.io.IOException;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** Helpers of tests for clients. */
final class Clients {
  private Clients() {}

  /** A client over one transport, as the user of this process, with these settings besides. */
  static TakoClient connect(ServerProcess server, String transport, String... keysAndValues)
      throws IOException {
    return connect(server.uri(), transport, keysAndValues);
  }

  /** A client of the server at {@code uri}, likewise. */
  static TakoClient connect(URI uri, String transport, String... keysAndValues) throws IOException {
    TakoConfig config = new TakoConfig().set("fs.tako.transport", transport);
    for (int i = 0; i < keysAndValues.length; i += 2) {
      config.set(keysAndValues[i], keysAndValues[i + 1]);
    }
    return TakoClient.connect(uri, config, System.getProperty("user.name"));
  }

  /** All bytes of a file. */
  static byte[] read(TakoClient client, String path) throws IOException {
    try (TakoInputStream in = client.open(path)) {
      return in.readAllBytes();
    }
  }

  /** The entries of a directory. */
  static List<PathStatus> list(TakoClient client, String path) throws IOException {
    List<PathStatus> entries = new ArrayList<>();
    DirectoryIterator iterator = client.list(path);
    while (iterator.hasNext()) {
      entries.add(iterator.next());
    }
    return entries;
  }

  /**
   * Deletes everything; then, once extents have rested, the data zone must be empty. What was taken
   * from a writer whose client is still connected rests for the soft limit of leases, a minute,
   * unless space is short.
   */
  static void checkNothingLeaks(TakoClient client) throws Exception {
    for (PathStatus entry : list(client, "/")) {
      client.delete(entry.path(), true);
    }
    try {
      Poll.until(
          "an empty file system uses no extent",
          Duration.ofSeconds(100),
          () -> client.usage().used() == 0);
    } catch (AssertionError e) {
      throw new AssertionError(e.getMessage() + "; the server says\n" + client.serverStatus(), e);
    }
  }
}
