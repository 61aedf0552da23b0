package io.takofs.system;

import static org.assertj.core.api.Assertions.assertThat;

import io.takofs.base.Clock;
import io.takofs.client.CreateOptions;
import io.takofs.client.TakoClient;
import io.takofs.client.TakoOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.ToLongFunction;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * What the death of the leader of the namespace costs each client: nothing but time. Each goes on
 * with files that it creates and reads, no call fails, and all bytes that were acknowledged are
 * there. It prints the time without an answer, by client and kill; {@code tako.test.leader.kills}
 * says how often, and {@code tako.test.leader.pause.us} how long each client rests between two
 * files.
 */
@Timeout(value = 2, unit = TimeUnit.HOURS)
class LeaderDeathTest {
  private static final int KILLS = Integer.getInteger("tako.test.leader.kills", 3);

  /** Between two files of a client: without, the clients want more than two processors have. */
  private static final long PAUSE_NS = Long.getLong("tako.test.leader.pause.us", 0) * 1000;

  /** Files of a client that are there at a time: a namespace has room for so many. */
  private static final int KEPT = 2000;

  private static final int SERVERS = 3;
  private static final Duration LIMIT = Duration.ofMinutes(2);
  private static final long STEADY_NS = TimeUnit.MILLISECONDS.toNanos(300);
  private static final double PERCENTILE = 0.99;

  /** One client that creates a file, reads it, and begins again. */
  private static final class Worker implements AutoCloseable {
    private final TakoClient client;
    private final String directory;
    private final Thread thread = new Thread(this::run);
    private volatile boolean stopped;
    private volatile Throwable failure;
    private volatile int files;
    private volatile long answeredNs = System.nanoTime();
    private volatile long longestGapNs;
    private volatile long goneOnMs; // the end of the longest gap, by the clock

    Worker(TakoClient client, int number) throws IOException {
      this.client = client;
      this.directory = "/worker-" + number;
      client.mkdirs(directory);
      thread.setDaemon(true);
      thread.start();
    }

    private void run() {
      try {
        for (int file = 0; !stopped; file++) {
          String path = path(file);
          try (TakoOutputStream out = client.create(path, CreateOptions.DEFAULT)) {
            out.write(content(path));
          }
          answered();
          assertThat(Clients.read(client, path)).isEqualTo(content(path));
          answered();
          if (file >= KEPT) {
            client.delete(path(file - KEPT), false);
          }
          files = file + 1;
          if (PAUSE_NS > 0) {
            LockSupport.parkNanos(PAUSE_NS);
          }
        }
      } catch (IOException | RuntimeException | Error e) {
        failure = e;
      }
    }

    private void answered() {
      long now = System.nanoTime();
      if (now - answeredNs > longestGapNs) {
        longestGapNs = now - answeredNs;
        goneOnMs = System.currentTimeMillis();
      }
      answeredNs = now;
    }

    /** The longest time without an answer since this was asked last. */
    long takeGapNs() {
      long gap = longestGapNs;
      longestGapNs = 0;
      return gap;
    }

    int files() {
      return files;
    }

    void check(TakoClient reader) throws IOException {
      assertThat(failure).isNull();
      int first = Math.max(0, files - KEPT);
      for (int i = first; i < files; i++) {
        assertThat(Clients.read(reader, path(i))).as(path(i)).isEqualTo(content(path(i)));
      }
      assertThat(Clients.list(reader, directory)).hasSize(files - first);
    }

    void stop() throws InterruptedException {
      stopped = true;
      thread.join(LIMIT.toMillis());
      assertThat(thread.isAlive()).isFalse();
    }

    @Override
    public void close() {
      stopped = true;
      client.close();
    }

    private String path(int file) {
      return directory + "/f" + file;
    }

    private static byte[] content(String path) {
      return ("content of " + path).getBytes(StandardCharsets.UTF_8);
    }
  }

  @Test
  void shouldCostClientsNothingButTime() throws Exception {
    List<Worker> workers = new ArrayList<>();
    try (ServerCluster cluster = ServerCluster.start(SERVERS, "fs.tako.server.pool.size", "512m");
        TakoClient watcher = ClusterClients.connect(cluster, "tcp")) {
      GroupHealth.awaitMembers(watcher, SERVERS, LIMIT);
      try {
        for (int i = 0; i < 4; i++) {
          workers.add(new Worker(ClusterClients.connect(cluster, i % 2 == 0 ? "shm" : "tcp"), i));
        }
        List<FailoverPhases> phases = new ArrayList<>();
        List<Double> gapsMs = killLeaders(cluster, watcher, workers, phases);
        for (Worker worker : workers) {
          worker.stop();
        }
        for (Worker worker : workers) {
          worker.check(watcher);
        }
        gapsMs.sort(null);
        System.out.printf(
            "%d kills, %d clients: without an answer %.0f ms median, %.0f p99, %.0f most; %d files%n",
            KILLS,
            workers.size(),
            gapsMs.get(gapsMs.size() / 2),
            gapsMs.get((int) ((gapsMs.size() - 1) * PERCENTILE)),
            gapsMs.get(gapsMs.size() - 1),
            workers.stream().mapToInt(Worker::files).sum());
        System.out.printf(
            "of it, medians and most: detection %s ms, election %s, replay %s, reconnection %s%n",
            spread(phases, FailoverPhases::detectionMs),
            spread(phases, FailoverPhases::electionMs),
            spread(phases, FailoverPhases::replayMs),
            spread(phases, FailoverPhases::reconnectionMs));
      } finally {
        workers.forEach(Worker::close);
      }
    }
  }

  private static String spread(List<FailoverPhases> phases, ToLongFunction<FailoverPhases> phase) {
    long[] sorted = phases.stream().mapToLong(phase).sorted().toArray();
    return sorted[sorted.length / 2] + " to " + sorted[sorted.length - 1];
  }

  private static List<Double> killLeaders(
      ServerCluster cluster, TakoClient watcher, List<Worker> workers, List<FailoverPhases> phases)
      throws Exception {
    List<Double> gapsMs = new ArrayList<>();
    for (int kill = 0; kill < KILLS; kill++) {
      GroupHealth.awaitMembers(watcher, SERVERS, LIMIT);
      Clock.SYSTEM.pause(workers, STEADY_NS, () -> false);
      workers.forEach(Worker::takeGapNs);
      ServerProcess leader = ClusterHealth.awaitLeader(watcher, cluster, LIMIT);
      long diedMs = System.currentTimeMillis();
      leader.kill();
      List<Integer> before = workers.stream().map(Worker::files).toList();
      Poll.until("all clients go on", LIMIT, () -> haveGoneOn(workers, before));
      for (Worker worker : workers) {
        gapsMs.add(worker.takeGapNs() / 1e6);
      }
      List<ServerProcess> living = new ArrayList<>(cluster.servers());
      living.remove(leader);
      phases.add(FailoverPhases.of(living, diedMs, answeredMs(workers)));
      leader.restart();
    }
    return gapsMs;
  }

  /** When the last of them had its first answer after its gap. */
  private static long answeredMs(List<Worker> workers) {
    return workers.stream().mapToLong(worker -> worker.goneOnMs).max().orElseThrow();
  }

  private static boolean haveGoneOn(List<Worker> workers, List<Integer> before) {
    for (int i = 0; i < workers.size(); i++) {
      if (workers.get(i).failure != null) {
        throw new AssertionError("a client failed", workers.get(i).failure);
      }
      if (workers.get(i).files() < before.get(i) + 2) {
        return false;
      }
    }
    return true;
  }
}
