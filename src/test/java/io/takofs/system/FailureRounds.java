package io.takofs.system;

import static org.assertj.core.api.Assertions.assertThat;

import io.takofs.client.TakoClient;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;

/**
 * Rounds of failures of a cluster of three servers under two loads: one whose bytes are compared,
 * and one whose calls are recorded and checked to be those of one namespace. After each round there
 * are three members with the whole log, and all copies. No client may fail before its deadline,
 * whatever happens.
 *
 * <p>Thread rule: one thread.
 */
final class FailureRounds implements AutoCloseable {
  static final int SERVERS = 3;

  /** Settings of the servers. */
  static final String[] SETTINGS = {
    "fs.tako.server.checkpoint.size", "1m",
    "fs.tako.server.quarantine", "1s",
    "fs.tako.server.pool.size", "384m"
  };

  private static final Duration LIMIT = Duration.ofMinutes(4);

  /** A little less than what clients are given to make their calls in. */
  private static final Duration PATIENCE = Duration.ofSeconds(170);

  private static final double PERCENTILE = 0.99;

  /** For so long it lasts at least, up to twice as long: elections and timeouts come meanwhile. */
  private static final long LASTS_NS = TimeUnit.SECONDS.toNanos(3);

  /** Of a recorded load, before a failure, while it lasts, and after it. */
  private static final int CALLS = 120;

  private final ServerCluster cluster;
  private final Random random;
  private final ClusterLoad load;
  private final List<TakoClient> recorded = new ArrayList<>();
  private final List<Long> longestMs = new ArrayList<>();
  private long calls;
  private int rounds;

  /** A failure of a round. */
  @FunctionalInterface
  interface Chosen {
    /**
     * @param leader number of the server that leads
     */
    ClusterFault fault(int leader, Random random);
  }

  /**
   * Begins the loads.
   *
   * @param cluster that stays its owner's
   * @param transports a client of each load for each of them
   */
  FailureRounds(ServerCluster cluster, List<String> transports) throws Exception {
    this.cluster = cluster;
    long seed = Long.getLong("tako.test.seed", System.nanoTime());
    System.out.println("tako.test.seed=" + seed);
    this.random = new Random(seed);
    try {
      for (String transport : transports) {
        recorded.add(connect(transport));
      }
      awaitRedundancy();
      this.load = new ClusterLoad(this::connect, transports, List.of(SERVERS), random);
    } catch (Exception e) {
      closeClients();
      throw e;
    }
  }

  private TakoClient connect(String transport, String... more) throws IOException {
    return ClusterClients.connect(cluster, transport, ClusterLoad.settings(more));
  }

  /**
   * A client that finds the leader. One that found it earlier may be at a server that is cut off,
   * and would be told what that knows.
   */
  private TakoClient connectToLeader() throws IOException {
    return ClusterClients.connect(
        cluster, "tcp", "fs.tako.client.timeout", "3m", "fs.tako.client.connect.timeout", "3s");
  }

  private ServerProcess leader() throws Exception {
    try (TakoClient client = connectToLeader()) {
      return ClusterHealth.awaitLeader(client, cluster, LIMIT);
    }
  }

  private void awaitRedundancy() throws Exception {
    try (TakoClient client = connectToLeader()) {
      GroupHealth.awaitMembers(client, SERVERS, LIMIT);
      ClusterHealth.awaitCopies(client, SERVERS, LIMIT);
    }
  }

  /** One round after the other; prints what each costs. */
  void run(int count, Chosen chosen) throws Exception {
    try {
      load.letThemWork(50);
      awaitRedundancy();
      for (int round = 0; round < count; round++) {
        round(chosen);
      }
      finish();
    } catch (Exception | AssertionError e) {
      for (ServerProcess server : cluster.servers()) {
        System.out.println(server.lastWords());
      }
      throw e;
    }
  }

  private void round(Chosen chosen) throws Exception {
    String home = "/round-" + rounds++;
    try (RoundHistory history = new RoundHistory(recorded, home, PATIENCE, LIMIT, random)) {
      history.letThemWork(CALLS);
      ServerProcess leader = leader();
      ClusterFault fault = chosen.fault(cluster.servers().indexOf(leader), random);
      load.takeLongestMs();
      long start = System.nanoTime();
      fault.inflict();
      load.letAllGoOn(LIMIT);
      if (fault.endsLead()) {
        Poll.until("another server leads", LIMIT, () -> leader() != leader);
      }
      history.letThemWork(CALLS);
      long lastsNs = (long) ((1 + random.nextDouble()) * LASTS_NS);
      Poll.until("it has lasted", LIMIT, () -> System.nanoTime() - start > lastsNs);
      List<Long> gapsMs = load.takeLongestOfEachMs();
      long gone = System.nanoTime();
      fault.heal();
      history.letThemWork(CALLS);
      long healed = System.nanoTime();
      awaitRedundancy();
      long whole = System.nanoTime();
      load.letAllGoOn(LIMIT);
      long laterMs = load.takeLongestMs();
      calls += history.finish();
      load.verify();
      longestMs.addAll(gapsMs);
      System.out.printf(
          "round %d, %s: clients waited %s ms; %.1f s until it was healed, %.1f s later all ran,"
              + " %.1f s later all copies were there; then clients waited %d ms%n",
          rounds,
          fault.name(),
          gapsMs,
          (gone - start) / 1e9,
          (healed - gone) / 1e9,
          (whole - healed) / 1e9,
          laterMs);
    }
  }

  private void finish() throws Exception {
    load.stop();
    load.verify();
    CommandLineRun fsck =
        CommandLineRun.of(Map.of("TAKO_URI", cluster.uri().toString()), "fsck", "/");
    assertThat(fsck.output()).contains("HEALTHY");
    assertThat(fsck.code()).isZero();
    longestMs.sort(null);
    System.out.printf(
        "%d rounds: %d operations compared, %d calls recorded; the slowest operation of each client"
            + " took %d ms median, %d p99, %d at most%n",
        rounds,
        load.operations(),
        calls,
        longestMs.get(longestMs.size() / 2),
        longestMs.get((int) ((longestMs.size() - 1) * PERCENTILE)),
        longestMs.get(longestMs.size() - 1));
  }

  private void closeClients() {
    recorded.forEach(TakoClient::close);
  }

  @Override
  public void close() {
    load.close();
    closeClients();
  }
}
