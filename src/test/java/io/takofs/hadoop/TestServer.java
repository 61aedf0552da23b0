package io.takofs.hadoop;

import io.takofs.system.LeaderKiller;
import io.takofs.system.ServerCluster;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import org.apache.hadoop.conf.Configuration;

/**
 * The data server of all tests of this JVM, or as many as {@code tako.test.servers} says, in
 * processes of their own. The tests see nothing of it: their class path holds the shaded jar and
 * Hadoop. With {@code tako.test.leader.kill.every}, a number of seconds, the server that leads the
 * namespace is killed so long after the last one runs again; tests shall not notice. Each has a
 * line in {@code target/leader-kills} then.
 *
 * <p>Thread rule: any thread.
 */
public final class TestServer {
  private static final String POOL_SIZE = "fs.tako.server.pool.size";
  private static final String CLIENT_KEYS = "fs.tako.client.";

  private static URI uri;

  private TestServer() {}

  /** The server, started at the first call and stopped when the JVM ends. */
  private static synchronized URI uri() {
    if (uri == null) {
      try {
        String[] settings = {
          POOL_SIZE,
          System.getProperty(POOL_SIZE, "1g"),
          // Hadoop's suites ask for blocks of a few bytes.
          "fs.tako.server.block.size.min",
          "1"
        };
        ServerCluster servers =
            ServerCluster.start(Integer.getInteger("tako.test.servers", 1), settings);
        int everyS = Integer.getInteger("tako.test.leader.kill.every", 0);
        LeaderKiller killer =
            everyS == 0
                ? null
                : LeaderKiller.start(
                    servers, Duration.ofSeconds(everyS), Path.of("target", "leader-kills"));
        Runtime.getRuntime().addShutdownHook(new Thread(() -> close(servers, killer)));
        uri = servers.uri();
      } catch (Exception e) {
        throw new IllegalStateException("no server to test with", e);
      }
    }
    return uri;
  }

  private static void close(ServerCluster servers, LeaderKiller killer) {
    try {
      if (killer != null) {
        killer.close();
      }
      servers.close();
    } catch (IOException e) {
      throw new UncheckedIOException("the servers do not end", e);
    }
  }

  /** Makes it the default file system of {@code conf}, over the transport under test. */
  public static void configure(Configuration conf) {
    configure(conf, uri());
  }

  /**
   * Makes the server at {@code uri} the default file system of {@code conf}, over the transport
   * under test, with what system properties say of clients.
   */
  public static void configure(Configuration conf, URI uri) {
    conf.set("fs.defaultFS", uri.toString());
    conf.set("fs.tako.transport", transport());
    for (String name : System.getProperties().stringPropertyNames()) {
      if (name.startsWith(CLIENT_KEYS)) {
        conf.set(name, System.getProperty(name));
      }
    }
  }

  /** Name of the transport under test. */
  public static String transport() {
    return System.getProperty("tako.test.transport");
  }
}
