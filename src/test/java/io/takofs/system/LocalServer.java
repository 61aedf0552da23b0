package io.takofs.system;

import io.takofs.client.TakoClient;
import io.takofs.config.TakoConfig;
import io.takofs.server.RunningServer;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.stream.Stream;

/**
 * A data server in this process, with a small pool on /dev/shm.
 *
 * <p>Thread rule: one thread.
 */
final class LocalServer implements TestedFileSystem {
  static final String USER = System.getProperty("user.name");

  private final Path directory;
  private final TakoConfig config;
  private RunningServer server;

  LocalServer(String poolSize) throws IOException {
    directory = Files.createTempDirectory(Path.of("/dev/shm"), "tako-test-");
    config =
        new TakoConfig()
            .set("fs.tako.server.host", ServerAddress.host())
            .set("fs.tako.server.port", ServerAddress.freePorts(1).get(0).toString())
            .set("fs.tako.server.pool.path", directory.resolve("pool").toString())
            .set("fs.tako.server.state.dir", directory.resolve("state").toString())
            .set("fs.tako.server.pool.size", poolSize)
            .set("fs.tako.server.quarantine", "0s");
    server = RunningServer.start(config, USER);
  }

  /** The file of the data zone. */
  Path data() {
    return directory.resolve("pool").resolve("data");
  }

  @Override
  public URI uri() {
    return server.uri();
  }

  /** A client over one transport, with these settings besides. */
  TakoClient connect(String transport, String... keysAndValues) throws IOException {
    TakoConfig settings = new TakoConfig().set("fs.tako.transport", transport);
    for (int i = 0; i < keysAndValues.length; i += 2) {
      settings.set(keysAndValues[i], keysAndValues[i + 1]);
    }
    return TakoClient.connect(uri(), settings, USER);
  }

  /** Stops it and starts it again at the same place. */
  void restart() throws IOException {
    server.close();
    server = RunningServer.start(config, USER);
  }

  @Override
  public void close() throws IOException {
    server.close();
    try (Stream<Path> paths = Files.walk(directory)) {
      for (Path each : paths.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(each);
      }
    }
  }
}
