package io.takofs.system;

import static org.assertj.core.api.Assertions.assertThat;

import io.takofs.client.TakoClient;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Servers and clients of a cluster fail under load, one at a time. After each failure there are as
 * many copies as before, and nothing that was committed is lost or wrong. Other clients see no
 * error, and when all files are deleted no extent is left in use and no slab of a server is lost.
 *
 * <p>{@code tako.test.rounds} says how often each failure comes, and {@code tako.test.failures}
 * which ones do, by name. {@code bin/test --full} has many rounds of all of them.
 */
@Timeout(value = 10, unit = TimeUnit.HOURS)
class ClusterFailuresTest {
  private static final int ROUNDS = Integer.getInteger("tako.test.rounds", 1);
  private static final String QUICK =
      "DATA_SERVER_KILLED,NAMESPACE_SERVER_KILLED,DATA_SERVER_FROZEN,SHM_CLIENT_FROZEN";
  private static final int SERVERS = 3;
  private static final List<String> TRANSPORTS = List.of("shm", "tcp", "tcp", "shm");

  /**
   * For all copies: 10 s until a silent server counts as dead and its session is over, 30 s in
   * which nothing is copied to a server that a client reported, and 3 s for the bytes of a pool at
   * 200 MB/s. The rest is for a machine that is busy with other tests.
   */
  private static final Duration REPAIR_LIMIT = Duration.ofMinutes(4);

  /** The namespace's server looks for slabs that nobody has every 30 s. */
  private static final Duration SLABS_LIMIT = Duration.ofMinutes(2);

  @Test
  void shouldLoseNothingWhateverFails() throws Exception {
    String names = System.getProperty("tako.test.failures", QUICK);
    failUnderLoad(
        List.of(SERVERS), Arrays.stream(names.split(",")).map(ClusterFailure::valueOf).toList());
  }

  /** Files of fewer copies than servers wait for those that have their data. */
  @Test
  void shouldLoseNothingOfFewerCopiesWhenTheServerOfTheNamespaceIsKilled() throws Exception {
    failUnderLoad(List.of(1, 2), List.of(ClusterFailure.NAMESPACE_SERVER_KILLED));
  }

  private static void failUnderLoad(List<Integer> copies, List<ClusterFailure> failures)
      throws Exception {
    long seed = Long.getLong("tako.test.seed", System.nanoTime());
    System.out.println("tako.test.seed=" + seed);
    Random random = new Random(seed);
    try (ServerCluster cluster =
            ServerCluster.start(
                SERVERS,
                "fs.tako.server.checkpoint.size",
                "1m",
                "fs.tako.server.quarantine",
                "1s",
                "fs.tako.server.pool.size",
                "512m");
        TakoClient watcher = ClusterLoad.connect(cluster.uri(), "tcp");
        ClusterLoad load = new ClusterLoad(cluster.uri(), TRANSPORTS, copies, random)) {
      try {
        load.letThemWork(50);
        ClusterHealth.awaitCopies(watcher, SERVERS, REPAIR_LIMIT);
        for (int round = 0; round < ROUNDS; round++) {
          List<ClusterFailure> shuffled = new ArrayList<>(failures);
          Collections.shuffle(shuffled, random);
          for (ClusterFailure failure : shuffled) {
            load.takeLongestMs();
            long start = System.nanoTime();
            failure.happen(cluster, random);
            long over = System.nanoTime();
            ClusterHealth.awaitCopies(watcher, SERVERS, REPAIR_LIMIT);
            long whole = System.nanoTime();
            load.letThemWork(10 + random.nextInt(20));
            long longestMs = load.takeLongestMs();
            load.verify();
            System.out.printf(
                "%s, round %d, %s copies: over after %.1f s, all copies there %.1f s later; the"
                    + " slowest operation took %.1f s; %d operations%n",
                failure,
                round,
                copies,
                (over - start) / 1e9,
                (whole - over) / 1e9,
                longestMs / 1e3,
                load.operations());
          }
        }
        finish(cluster, watcher, load, copies);
      } catch (Exception | AssertionError e) {
        for (ServerProcess server : cluster.servers()) {
          System.out.println(server.lastWords());
        }
        throw e;
      }
    }
  }

  private static void finish(
      ServerCluster cluster, TakoClient watcher, ClusterLoad load, List<Integer> copies)
      throws Exception {
    load.stop();
    ClusterHealth.awaitCopies(watcher, SERVERS, REPAIR_LIMIT);
    check(cluster, load);
    if (copies.equals(List.of(SERVERS))) {
      checkEachDataServerAlone(cluster, watcher, load);
    }
    load.clean();
    ClusterHealth.awaitCopies(watcher, SERVERS, REPAIR_LIMIT);
    ClusterHealth.awaitNoSlabLost(watcher, SERVERS, SLABS_LIMIT);
  }

  private static void check(ServerCluster cluster, ClusterLoad load) throws Exception {
    load.verify();
    CommandLineRun fsck =
        CommandLineRun.of(Map.of("TAKO_URI", cluster.uri().toString()), "fsck", "/");
    assertThat(fsck.output()).contains(load.counts(), "HEALTHY");
    assertThat(fsck.code()).isZero();
  }

  /** What one data server has is enough: the other one is down, and the first has nothing right. */
  private static void checkEachDataServerAlone(
      ServerCluster cluster, TakoClient watcher, ClusterLoad load) throws Exception {
    for (int down = 1; down < SERVERS; down++) {
      cluster.servers().get(down).kill();
      cluster.spoil(0);
      load.verify();
      cluster.servers().get(down).restart();
      ClusterHealth.awaitCopies(watcher, SERVERS, REPAIR_LIMIT);
    }
  }
}
