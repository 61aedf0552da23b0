package io.takofs.system;

import static org.assertj.core.api.Assertions.assertThat;

import io.takofs.base.Clock;
import io.takofs.client.TakoClient;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Nobody is elected while the leader of three servers lives, though clients want all that the
 * machine has, for {@code -Dtako.test.leader.steady=1h}. {@code -Dtako.test.leader.timeout=300ms}
 * sets {@code fs.tako.group.election.timeout}: the shortest one with which this passes for long is
 * the shortest that is of use on the machine.
 */
@Timeout(value = 4, unit = TimeUnit.HOURS)
class SteadyLeaderTest {
  private static final Duration STEADY =
      Duration.parse("PT" + System.getProperty("tako.test.leader.steady", "10s"));

  /** Unless told, long enough for a machine that runs other tests beside. */
  private static final String TIMEOUT = System.getProperty("tako.test.leader.timeout", "1s");

  private static final String ELECTION = ".*(is missed as the leader|stands for election).*";
  private static final int SERVERS = 3;
  private static final Duration LIMIT = Duration.ofMinutes(2);
  private static final long LOOK_NS = TimeUnit.SECONDS.toNanos(1);

  @Test
  void shouldElectNobodyUnderLoad() throws Exception {
    List<FileWorker> workers = new ArrayList<>();
    try (ServerCluster cluster =
            ServerCluster.start(
                SERVERS,
                "fs.tako.server.pool.size",
                "512m",
                "fs.tako.group.election.timeout",
                TIMEOUT);
        TakoClient watcher = ClusterClients.connect(cluster, "tcp")) {
      GroupHealth.awaitMembers(watcher, SERVERS, LIMIT);
      int leader = watcher.administration().clusterStatus().getLeader();
      long before = elections(cluster);
      try {
        FileWorker.start(workers, cluster);
        workers.forEach(FileWorker::takeGapNs);
        long begin = System.nanoTime();
        while (System.nanoTime() - begin < STEADY.toNanos()) {
          Clock.SYSTEM.pause(workers, LOOK_NS, () -> false);
          workers.forEach(FileWorker::checkAlive);
        }
        long gapNs = workers.stream().mapToLong(FileWorker::takeGapNs).max().orElseThrow();
        for (FileWorker worker : workers) {
          worker.stop();
          worker.check(watcher);
        }
        long elections = elections(cluster) - before;
        System.out.printf(
            "%s with an election time-out of %s: %d elections, %d files, at most %d ms without an answer%n",
            STEADY,
            TIMEOUT,
            elections,
            workers.stream().mapToInt(FileWorker::files).sum(),
            TimeUnit.NANOSECONDS.toMillis(gapNs));
        assertThat(before).as("elections when the servers started").isPositive();
        assertThat(workers).allMatch(worker -> worker.files() > 0);
        assertThat(elections).isZero();
        assertThat(watcher.administration().clusterStatus().getLeader()).isEqualTo(leader);
      } finally {
        workers.forEach(FileWorker::close);
      }
    }
  }

  /** How often somebody missed a leader, or stood for election, as the servers' logs say. */
  private static long elections(ServerCluster cluster) throws IOException {
    long count = 0;
    for (ServerProcess server : cluster.servers()) {
      count += server.log().lines().filter(line -> line.matches(ELECTION)).count();
    }
    return count;
  }
}
