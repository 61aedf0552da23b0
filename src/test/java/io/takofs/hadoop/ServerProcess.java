package io.takofs.hadoop;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;
import org.apache.hadoop.conf.Configuration;

/**
 * A data server in a process of its own, one for all tests of this JVM. The tests see nothing of
 * it: their class path holds the shaded jar and Hadoop.
 *
 * <p>Thread rule: any thread.
 */
public final class ServerProcess {
  private static ServerProcess shared;

  private final int port;
  private final Path pool;
  private final Process process;

  private ServerProcess() throws IOException {
    port = freePort();
    pool = Files.createTempDirectory(Path.of("/dev/shm"), "tako-hadoop-test-");
    process = start();
    Runtime.getRuntime().addShutdownHook(new Thread(this::stop));
  }

  /** The server of this JVM, started at the first call and stopped when the JVM ends. */
  public static synchronized ServerProcess shared() throws IOException {
    if (shared == null) {
      shared = new ServerProcess();
    }
    return shared;
  }

  /** Makes this server the default file system of {@code conf}, over the transport under test. */
  public void configure(Configuration conf) {
    conf.set("fs.defaultFS", "tako://127.0.0.1:" + port);
    conf.set("fs.AbstractFileSystem.tako.impl", "io.takofs.hadoop.TakoFs");
    conf.set("fs.tako.transport", System.getProperty("tako.test.transport"));
  }

  private static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    }
  }

  /** Clients wait for the server to come up, so nobody waits here. */
  private Process start() throws IOException {
    Path log = Path.of("target", "server-" + System.getProperty("tako.test.transport") + ".log");
    List<String> command =
        List.of(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-cp",
            System.getProperty("tako.server.classpath"),
            "-Xmx256m",
            "-Dfs.tako.server.port=" + port,
            "-Dfs.tako.server.pool.path=" + pool,
            "-Dfs.tako.server.pool.size=1g",
            "-Dfs.tako.server.pool.pages.size=64m",
            "-Dfs.tako.server.pool.log.size=128m",
            // Groups of the users that Hadoop's suites make up.
            "io.takofs.cli.Tako",
            "server");
    return new ProcessBuilder(command)
        .redirectErrorStream(true)
        .redirectOutput(log.toFile())
        .start();
  }

  private void stop() {
    process.destroyForcibly().onExit().join();
    try (Stream<Path> files = Files.walk(pool)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(file);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
