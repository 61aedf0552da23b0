package io.takofs.system;

import static org.assertj.core.api.Assertions.assertThat;

import io.takofs.client.CreateOptions;
import io.takofs.client.PathStatus;
import io.takofs.client.TakoClient;
import io.takofs.client.TakoOutputStream;
import io.takofs.proto.ClusterStatus;
import java.io.IOException;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * A member whose log no other one can continue takes over a checkpoint while the others serve, and
 * leads a whole namespace later.
 */
@Timeout(value = 4, unit = TimeUnit.HOURS) // where a member is away for long
class LaggingMemberTest {
  private static final Duration LIMIT = Duration.ofMinutes(4);
  private static final String TAKEN = "a checkpoint was taken over";
  private static final String GIVEN_UP = "the state here is given up";
  private static final String TAKEN_BACK = "the state that was given up is taken back";
  private static final String UNFINISHED = "the takeover of a checkpoint did not end";
  private static final long AT_ONCE_NS = TimeUnit.MICROSECONDS.toNanos(500);

  /** What a member may hold of the log while others trim theirs: some segments of 8 MiB. */
  private static final long LOG_BYTES = 40 << 20;

  /** For which a member is away at least, and changes go on: {@code -Dtako.test.member.away=1h}. */
  private static final Duration AWAY =
      Duration.parse("PT" + System.getProperty("tako.test.member.away", "1s"));

  private static final int VALUE_BYTES = 15_000;
  private static final int FILES = 700;

  private static final String[] SETTINGS = {
    "fs.tako.server.pool.size", "256m",
    "fs.tako.server.checkpoint.size", "1m",
    "fs.tako.group.replace.after", "2s"
  };

  private final long seed = Long.getLong("tako.test.seed", System.nanoTime());
  private final Random random = new Random(seed);
  private final Map<String, byte[]> values = new TreeMap<>();
  private final Map<String, byte[]> contents = new TreeMap<>();

  @Test
  void shouldTakeOverACheckpointAfterAWhileAway() throws Exception {
    try (ServerCluster cluster = start(3, 3);
        TakoClient client = ClusterClients.connect(cluster, "tcp", ClusterLoad.settings())) {
      try {
        awaitMembers(client, cluster);
        ServerProcess away = follower(client, cluster);
        away.kill();
        long bytes = changeFor(client, AWAY);
        long[] times = {System.nanoTime(), 0, 0};
        changeDuring(
            client,
            () -> {
              away.restart();
              awaitText(away, TAKEN);
              times[1] = System.nanoTime();
              awaitReached(client, 3);
              times[2] = System.nanoTime();
            });
        System.out.printf(
            "a member was away for %s and %d MiB of the log: it has a checkpoint %d ms after its start began, and gets the log after %d ms, while changes go on%n",
            AWAY,
            bytes >> 20,
            TimeUnit.NANOSECONDS.toMillis(times[1] - times[0]),
            TimeUnit.NANOSECONDS.toMillis(times[2] - times[0]));
        awaitLead(client, cluster, away);
        System.out.println(
            "takeovers: " + away.log().lines().filter(line -> line.contains(TAKEN)).toList());
        assertWhole(client);
        change(client, LOG_BYTES);
        assertWhole(client);
      } catch (Exception | AssertionError e) {
        throw explained(cluster, e);
      }
    }
  }

  /** It comes back as another server, which nobody asked to become a member. */
  @Test
  void shouldHaveThreeMembersAgainWhenOneComesBackWithoutItsPool() throws Exception {
    try (ServerCluster cluster = start(3, 3);
        TakoClient client = ClusterClients.connect(cluster, "tcp", ClusterLoad.settings())) {
      try {
        awaitMembers(client, cluster);
        awaitReached(client, 3);
        change(client, LOG_BYTES);
        for (boolean leads : new boolean[] {false, true}) {
          ServerProcess leader = ClusterHealth.awaitLeader(client, cluster, LIMIT);
          ServerProcess lost = leads ? leader : follower(client, cluster);
          int number = ClusterHealth.of(client, lost).getEntry().getId();
          lost.kill();
          lost.losePool();
          change(client, 1 << 20);
          long before = System.nanoTime();
          lost.restart();
          ClusterHealth.await(
              client,
              "three members, of which none is " + number,
              LIMIT,
              status ->
                  reached(status) == 3
                      && status.getGroup().getMembersList().stream()
                          .noneMatch(member -> member.getServer() == number));
          System.out.printf(
              "a %s that lost its pool: three members %d ms after its start began%n",
              leads ? "leader" : "follower",
              TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - before));
          assertWhole(client);
          awaitLead(client, cluster, lost); // with what it got from the others
          assertWhole(client);
        }
      } catch (Exception | AssertionError e) {
        throw explained(cluster, e);
      }
    }
  }

  @Test
  void shouldGoOnWithATakeoverThatAKillHasInterrupted() throws Exception {
    try (ServerCluster cluster = start(3, 3);
        TakoClient client = ClusterClients.connect(cluster, "tcp", ClusterLoad.settings())) {
      try {
        awaitMembers(client, cluster);
        ServerProcess away = follower(client, cluster);
        boolean interrupted = false;
        for (int round = 0; round < 10 && !interrupted; round++) {
          away.kill();
          change(client, LOG_BYTES);
          away.restart();
          Poll.until(GIVEN_UP, LIMIT, AT_ONCE_NS, () -> away.log().contains(GIVEN_UP));
          away.kill();
          away.restart();
          interrupted = away.log().contains(UNFINISHED);
        }
        assertThat(interrupted).isTrue();
        awaitText(away, TAKEN);
        awaitLead(client, cluster, away);
        assertWhole(client);
      } catch (Exception | AssertionError e) {
        throw explained(cluster, e);
      }
    }
  }

  @Test
  void shouldLetAnotherServerTakeThePlaceOfOneThatLostItsPool() throws Exception {
    try (ServerCluster cluster = start(3, 4);
        TakoClient client = ClusterClients.connect(cluster, "tcp", ClusterLoad.settings())) {
      try {
        awaitMembers(client, cluster);
        change(client, LOG_BYTES);
        String before = awaitChange(cluster, "");
        ServerProcess lost = follower(client, cluster);
        lost.kill();
        lost.losePool();
        cluster.startNext();
        ServerProcess next = cluster.servers().get(3);
        awaitText(next, TAKEN);
        awaitChange(cluster, before);
        change(client, 1 << 20);
        lost.restart(); // with an empty pool, for the catalog needs two of the first three
        awaitLead(client, cluster, next);
        assertWhole(client);
      } catch (Exception | AssertionError e) {
        throw explained(cluster, e);
      }
    }
  }

  // ---- servers ----------------------------------------------------------------------------------

  private ServerCluster start(int count, int all) throws Exception {
    System.out.println("tako.test.seed=" + seed);
    return ServerCluster.startSome(count, new String[all], SETTINGS);
  }

  private static AssertionError explained(ServerCluster cluster, Throwable e) throws IOException {
    for (ServerProcess server : cluster.servers()) {
      System.out.println(server.lastWords());
    }
    return new AssertionError(e);
  }

  private static void awaitText(ServerProcess server, String text) throws Exception {
    Poll.until(text + " at " + server.uri(), LIMIT, () -> server.log().contains(text));
  }

  /** Waits until the group has three members, of which one leads. */
  private static void awaitMembers(TakoClient client, ServerCluster cluster) throws Exception {
    ClusterHealth.awaitServers(client, 3, LIMIT);
    awaitChange(cluster, "");
    client.mkdirs("/d", 0777, true);
  }

  /**
   * Waits until somebody leads in a configuration that came after {@code line}; returns its line.
   */
  private static String awaitChange(ServerCluster cluster, String line) throws Exception {
    String[] change = {""};
    Poll.until(
        "a leader of new members",
        LIMIT,
        () -> {
          change[0] = last(cluster, "the group gets new members");
          return change[0].compareTo(line) > 0
              && last(cluster, "this server leads the namespace {").compareTo(change[0]) > 0;
        });
    return change[0];
  }

  /**
   * The newest line with {@code text} of any server; empty when there is none. Lines begin with
   * times.
   */
  private static String last(ServerCluster cluster, String text) throws IOException {
    String last = "";
    for (ServerProcess server : cluster.servers()) {
      for (String each : server.log().lines().filter(line -> line.contains(text)).toList()) {
        last = each.compareTo(last) > 0 ? each : last;
      }
    }
    return last;
  }

  private static ServerProcess follower(TakoClient client, ServerCluster cluster) throws Exception {
    ServerProcess leader = ClusterHealth.awaitLeader(client, cluster, LIMIT);
    return cluster.servers().stream().filter(server -> server != leader).findFirst().orElseThrow();
  }

  /**
   * Kills leaders until {@code wanted} is one, which takes what it has to be whole. It stands for
   * no election while it takes over another checkpoint, because it lagged again.
   */
  private void awaitLead(TakoClient client, ServerCluster cluster, ServerProcess wanted)
      throws Exception {
    List<URI> led = new ArrayList<>();
    for (int kill = 0; kill < 12; kill++) {
      ServerProcess leader = ClusterHealth.awaitLeader(client, cluster, LIMIT);
      if (leader == wanted) {
        return;
      }
      Poll.until("a state at " + wanted.uri(), LIMIT, () -> hasState(wanted));
      led.add(leader.uri());
      leader.kill();
      change(client, 100_000);
      leader.restart();
      change(client, 1 << 20);
    }
    throw new AssertionError(
        "it never leads: %s; those did: %s; it said: %s"
            .formatted(wanted.uri(), led, said(wanted)));
  }

  /** In one line what it said of elections and of checkpoints. */
  private static List<String> said(ServerProcess server) throws IOException {
    return server
        .log()
        .lines()
        .filter(line -> line.matches(".*(ElectionLog|CheckpointTakeover|TakeoverAttempt).*"))
        .toList();
  }

  /** Whether it gave up no state after the last one that it took over, or back. */
  private static boolean hasState(ServerProcess server) throws IOException {
    String log = server.log();
    int got = Math.max(log.lastIndexOf(TAKEN), log.lastIndexOf(TAKEN_BACK));
    return got >= log.lastIndexOf(GIVEN_UP);
  }

  private static void awaitReached(TakoClient client, int count) throws Exception {
    ClusterHealth.await(
        client, count + " members get the log", LIMIT, status -> reached(status) == count);
  }

  private static long reached(ClusterStatus status) {
    return status.getGroup().getMembersList().stream()
        .filter(member -> member.getReached() && !member.getLearner())
        .count();
  }

  // ---- the namespace ----------------------------------------------------------------------------

  /** Changes of so many bytes in the log. */
  private void change(TakoClient client, long bytes) throws IOException {
    for (long done = 0; done < bytes; done += VALUE_BYTES) {
      String path = "/d/f" + random.nextInt(FILES);
      if (!contents.containsKey(path)) {
        byte[] content = bytes(random.nextInt(200));
        try (TakoOutputStream out = client.create(path, CreateOptions.DEFAULT)) {
          out.write(content, 0, content.length);
        }
        contents.put(path, content);
      }
      byte[] value = bytes(VALUE_BYTES);
      client.xattrs().set(path, "user.value", value, true, true);
      values.put(path, value);
    }
  }

  /** Changes for so long, and of as many bytes as no log keeps; returns how many that were. */
  private long changeFor(TakoClient client, Duration time) throws IOException {
    long begin = System.nanoTime();
    long bytes = 0;
    while (bytes < LOG_BYTES || System.nanoTime() - begin < time.toNanos()) {
      change(client, 1 << 20);
      bytes += 1 << 20;
    }
    return bytes;
  }

  /** What happens while changes go on. */
  private interface Happening {
    void happen() throws Exception;
  }

  private void changeDuring(TakoClient client, Happening something) throws Exception {
    AtomicBoolean over = new AtomicBoolean();
    ExecutorService thread = Executors.newSingleThreadExecutor();
    try {
      Future<Void> changing =
          thread.submit(
              () -> {
                while (!over.get()) {
                  change(client, 1 << 20);
                }
                return null;
              });
      something.happen();
      over.set(true);
      changing.get();
    } finally {
      thread.shutdownNow();
    }
  }

  private byte[] bytes(int count) {
    byte[] bytes = new byte[count];
    random.nextBytes(bytes);
    return bytes;
  }

  private void assertWhole(TakoClient client) throws IOException {
    assertThat(Clients.list(client, "/d").stream().map(PathStatus::path))
        .containsExactlyInAnyOrderElementsOf(contents.keySet());
    for (String path : contents.keySet()) {
      assertThat(Clients.read(client, path)).isEqualTo(contents.get(path));
      assertThat(client.xattrs().getAll(path).get("user.value")).isEqualTo(values.get(path));
    }
  }
}
