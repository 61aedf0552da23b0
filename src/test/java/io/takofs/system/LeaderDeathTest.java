package io.takofs.system;

import io.takofs.base.Clock;
import io.takofs.client.TakoClient;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.ToLongFunction;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * What the death of the leader of the namespace costs each client: nothing but time. Each goes on
 * with files that it creates and reads, no call fails, and all bytes that were acknowledged are
 * there. It prints the time without an answer, by client and kill; {@code tako.test.leader.kills}
 * says how often.
 */
@Timeout(value = 2, unit = TimeUnit.HOURS)
class LeaderDeathTest {
  private static final int KILLS = Integer.getInteger("tako.test.leader.kills", 3);

  private static final int SERVERS = 3;
  private static final Duration LIMIT = Duration.ofMinutes(2);
  private static final long STEADY_NS = TimeUnit.MILLISECONDS.toNanos(300);
  private static final double PERCENTILE = 0.99;

  @Test
  void shouldCostClientsNothingButTime() throws Exception {
    List<FileWorker> workers = new ArrayList<>();
    try (ServerCluster cluster = ServerCluster.start(SERVERS, "fs.tako.server.pool.size", "512m");
        TakoClient watcher = ClusterClients.connect(cluster, "tcp")) {
      GroupHealth.awaitMembers(watcher, SERVERS, LIMIT);
      try {
        FileWorker.start(workers, cluster);
        List<FailoverPhases> phases = new ArrayList<>();
        List<Double> gapsMs = killLeaders(cluster, watcher, workers, phases);
        for (FileWorker worker : workers) {
          worker.stop();
        }
        for (FileWorker worker : workers) {
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
            workers.stream().mapToInt(FileWorker::files).sum());
        System.out.printf(
            "of it, medians and most: detection %s ms, election %s, replay %s, reconnection %s%n",
            spread(phases, FailoverPhases::detectionMs),
            spread(phases, FailoverPhases::electionMs),
            spread(phases, FailoverPhases::replayMs),
            spread(phases, FailoverPhases::reconnectionMs));
      } finally {
        workers.forEach(FileWorker::close);
      }
    }
  }

  private static String spread(List<FailoverPhases> phases, ToLongFunction<FailoverPhases> phase) {
    long[] sorted = phases.stream().mapToLong(phase).sorted().toArray();
    return sorted[sorted.length / 2] + " to " + sorted[sorted.length - 1];
  }

  private static List<Double> killLeaders(
      ServerCluster cluster,
      TakoClient watcher,
      List<FileWorker> workers,
      List<FailoverPhases> phases)
      throws Exception {
    List<Double> gapsMs = new ArrayList<>();
    for (int kill = 0; kill < KILLS; kill++) {
      GroupHealth.awaitMembers(watcher, SERVERS, LIMIT);
      Clock.SYSTEM.pause(workers, STEADY_NS, () -> false);
      workers.forEach(FileWorker::takeGapNs);
      ServerProcess leader = ClusterHealth.awaitLeader(watcher, cluster, LIMIT);
      long diedMs = System.currentTimeMillis();
      leader.kill();
      List<Integer> before = workers.stream().map(FileWorker::files).toList();
      Poll.until("all clients go on", LIMIT, () -> haveGoneOn(workers, before));
      for (FileWorker worker : workers) {
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
  private static long answeredMs(List<FileWorker> workers) {
    return workers.stream().mapToLong(FileWorker::goneOnMs).max().orElseThrow();
  }

  private static boolean haveGoneOn(List<FileWorker> workers, List<Integer> before) {
    for (int i = 0; i < workers.size(); i++) {
      workers.get(i).checkAlive();
      if (workers.get(i).files() < before.get(i) + 2) {
        return false;
      }
    }
    return true;
  }
}
