package io.takofs.cli;

import io.takofs.base.Clock;
import io.takofs.base.FreePorts;
import io.takofs.client.TakoClient;
import io.takofs.config.ConfigKeys;
import io.takofs.config.TakoConfig;
import io.takofs.proto.GroupStatus;
import io.takofs.server.RunningServer;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/**
 * Has three servers in this process keep a namespace together, and another one of them lead. A
 * process leads at most once for the first time, and when it does clients wait: so its classes for
 * that should be in the archive, too.
 *
 * <p>Thread rule: one thread.
 */
final class GroupTraining {
  private static final int SERVERS = 3;
  private static final long LIMIT_NS = TimeUnit.SECONDS.toNanos(30);
  private static final long PAUSE_NS = TimeUnit.MILLISECONDS.toNanos(200);

  private final TakoConfig config;
  private final List<RunningServer> servers = new ArrayList<>();

  /**
   * @param config of a server alone, beside whose pool those of the three are made
   */
  GroupTraining(TakoConfig config) {
    this.config = config;
  }

  /**
   * Does it.
   *
   * @throws IOException when a server does not start, or not all of them become members in time
   */
  void run() throws IOException, InterruptedException {
    try {
      startAll();
      URI uri = servers.get(0).uri();
      try (TakoClient client = connect(uri)) {
        awaitMembers(client);
      }
      try (TakoClient client = connect(uri)) { // which knows all members
        client.mkdirs("/of-the-first");
        servers.remove(0).close(); // which has another member lead first
        client.mkdirs("/of-the-next");
      }
    } finally {
      closeAll();
    }
  }

  private void closeAll() {
    for (RunningServer server : servers) {
      try {
        server.close();
      } catch (IOException | RuntimeException e) { // the others are closed, too
        System.err.println("a server of the training was not closed: " + e);
      }
    }
  }

  private TakoClient connect(URI uri) throws IOException {
    return TakoClient.connect(uri, new TakoConfig(config), System.getProperty("user.name"));
  }

  private void awaitMembers(TakoClient client) throws IOException {
    long begin = Clock.SYSTEM.nanoTime();
    while (!areMembers(client.administration().clusterStatus().getGroup())) {
      if (Clock.SYSTEM.nanoTime() - begin > LIMIT_NS) {
        throw new IOException("the servers have not become members in time");
      }
      Clock.SYSTEM.parkNanos(this, PAUSE_NS);
    }
  }

  private static boolean areMembers(GroupStatus group) {
    return group.getActive()
        && group.getMembersList().stream()
                .filter(member -> member.getReached() && !member.getLearner())
                .count()
            == SERVERS;
  }

  /** All at once, because the servers of a cluster wait for each other. */
  private void startAll() throws IOException, InterruptedException {
    List<Integer> ports = new FreePorts(new Random()).onLoopback(SERVERS);
    ExecutorService threads = Executors.newFixedThreadPool(SERVERS);
    try {
      List<Future<RunningServer>> starting = new ArrayList<>();
      for (int number = 0; number < SERVERS; number++) {
        TakoConfig settings = settings(ports, number);
        starting.add(
            threads.submit(() -> RunningServer.start(settings, System.getProperty("user.name"))));
      }
      IOException failure = null;
      for (Future<RunningServer> each : starting) {
        try {
          servers.add(each.get());
        } catch (ExecutionException e) {
          failure = new IOException(e.getCause()); // those that started are closed, too
        }
      }
      if (failure != null) {
        throw failure;
      }
    } finally {
      threads.shutdownNow();
    }
  }

  private TakoConfig settings(List<Integer> ports, int number) throws IOException {
    List<String> addresses = ports.stream().map(port -> "127.0.0.1:" + port).toList();
    Path directory = Path.of(config.get(ConfigKeys.POOL_PATH)).resolveSibling("group-" + number);
    return new TakoConfig(config)
        .set("fs.tako.server.host", "127.0.0.1")
        .set("fs.tako.server.port", Integer.toString(ports.get(number)))
        .set("fs.tako.server.pool.path", directory.resolve("pool").toString())
        .set("fs.tako.server.state.dir", directory.resolve("state").toString())
        .set("fs.tako.server.pool.size", "96m")
        .set("fs.tako.server.pool.pages.size", "8m")
        .set("fs.tako.server.pool.log.size", "64m")
        .set("fs.tako.cluster.servers", String.join(",", addresses));
  }
}
