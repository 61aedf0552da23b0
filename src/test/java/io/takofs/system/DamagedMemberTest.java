package io.takofs.system;

import static java.util.regex.Pattern.compile;
import static java.util.regex.Pattern.quote;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.takofs.client.CreateOptions;
import io.takofs.client.TakoClient;
import io.takofs.client.TakoOutputStream;
import io.takofs.proto.ClusterStatus;
import io.takofs.proto.GroupStatus;
import java.io.IOException;
import java.net.HttpURLConnection;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Bits of what a member keeps of the namespace change while it does not run. It serves its file
 * data, does not vote, and is a member again with a log and a state from the others.
 */
@Timeout(value = 15, unit = TimeUnit.MINUTES)
class DamagedMemberTest {
  private static final Duration LIMIT = Duration.ofMinutes(3);
  private static final URI CLUSTER = URI.create("tako://bay");
  private static final String LED = "this server leads the namespace {";
  private static final String ANEW = "the damaged member has begun anew";
  private static final String TAKES_OVER = "this member takes the state of the namespace over";
  private static final String ITS_OWN_ZONE = "io.takofs.base.TakoException: page zone";
  private static final int VALUE_BYTES = 15_000;
  private static final int LENGTH = 300_000;

  private final long seed = Long.getLong("tako.test.seed", System.nanoTime());
  private final Random random = new Random(seed);
  private int files;

  @Test
  void shouldComeBackAsANewMemberWhereverBitsChanged() throws Exception {
    try (ServerCluster cluster = start(3, 3);
        TakoClient client = connect(cluster, "180s")) {
      try {
        awaitMembers(client, 3);
        List<String> times = new ArrayList<>();
        for (MemberDamage damage : MemberDamage.values()) {
          write(client);
          change(client, 20 << 20);
          ServerProcess member = follower(client, cluster);
          member.kill();
          damage.of(member);
          long before = System.nanoTime();
          member.restart();
          long started = System.nanoTime();
          assertThat(member.log()).containsPattern("ERROR.*CORRUPT: (log 1|page zone|what this)");
          awaitText(member, damage.isOfLog() ? ANEW : TAKES_OVER);
          awaitMembers(client, 3);
          times.add(
              "%s: started after %d ms, caught up after %d ms"
                  .formatted(damage, ms(before, started), ms(before, System.nanoTime())));
          awaitHealth(client, member, 200);
          checkFiles(client);
          awaitLead(client, cluster, member);
          checkFiles(client);
        }
        System.out.println("damaged members: " + times);
        assertThat(client.administration().clusterStatus().getWarningsList())
            .noneMatch(warning -> warning.contains("CORRUPT"));
        Clients.checkNothingLeaks(client);
      } catch (Exception | AssertionError e) {
        throw explained(cluster, e);
      }
    }
  }

  @Test
  void shouldMakeNoMajorityAndSayWhatIsWrongWhereItIsAsked() throws Exception {
    try (ServerCluster cluster = start(3, 3);
        TakoClient client = connect(cluster, "180s");
        TakoClient impatient = connect(cluster, "4s")) {
      try {
        awaitMembers(client, 3);
        write(client);
        change(client, 1 << 20);
        ServerProcess leader = ClusterHealth.awaitLeader(client, cluster, LIMIT);
        List<ServerProcess> others = new ArrayList<>(cluster.servers());
        others.remove(leader);
        ServerProcess damaged = others.get(0);
        ServerProcess away = others.get(1);
        away.kill();
        damaged.kill();
        MemberDamage.PROMISE.of(damaged);
        String leads = leader.log();
        damaged.restart();
        // The leader had stepped down with both others away, and the damaged one helps it to
        // nothing.
        assertThat(catchThrowable(() -> impatient.mkdirs("/never"))).isNotNull();
        assertThat(count(leader.log(), LED)).isEqualTo(count(leads, LED));
        assertThat(damaged.log()).doesNotContain(LED).doesNotContain(ANEW);
        assertThat(health(damaged)).isEqualTo(503);
        for (ServerProcess asked : List.of(damaged, leader)) {
          Poll.until(
              "the status of " + asked.uri() + " names the damage",
              LIMIT,
              TimeUnit.SECONDS.toNanos(1),
              () ->
                  tako(asked, "status")
                      .matches("(?s).*CORRUPT: what this member of log 1 has promised.*"));
        }

        long before = System.nanoTime();
        away.restart();
        awaitText(damaged, ANEW);
        awaitMembers(client, 3);
        System.out.println(
            "a damaged member is back %d ms after the start of another one"
                .formatted(ms(before, System.nanoTime())));
        change(client, 1 << 20);
        checkFiles(client);
        awaitLead(client, cluster, damaged);
        checkFiles(client);
      } catch (Exception | AssertionError e) {
        throw explained(cluster, e);
      }
    }
  }

  @Test
  void shouldVoteWhereOnlyItsStateIsDamaged() throws Exception {
    try (ServerCluster cluster = start(3, 3);
        TakoClient client = connect(cluster, "180s")) {
      try {
        awaitMembers(client, 3);
        write(client);
        change(client, 20 << 20);
        ServerProcess leader = ClusterHealth.awaitLeader(client, cluster, LIMIT);
        List<ServerProcess> others = new ArrayList<>(cluster.servers());
        others.remove(leader);
        ServerProcess damaged = others.get(0);
        for (ServerProcess other : others) {
          other.kill();
        }
        MemberDamage.ROOTS.of(damaged);
        damaged.restart();
        byte[] last = change(client, 1 << 20);
        assertThat(damaged.log()).contains(TAKES_OVER).doesNotContain(ANEW);
        Poll.until("it has a state", LIMIT, () -> health(damaged) == 200);
        awaitMembers(client, 2);
        leader.kill();
        others.get(1).restart();
        assertThat(client.xattrs().get("/f0", List.of("user.value")).get("user.value"))
            .as("what only the damaged member voted for")
            .isEqualTo(last);
        assertThat(damaged.log()).doesNotContain("another attempt follows: " + ITS_OWN_ZONE);
        leader.restart();
        awaitMembers(client, 3);
        checkFiles(client);
      } catch (Exception | AssertionError e) {
        throw explained(cluster, e);
      }
    }
  }

  @Test
  void shouldBeReplacedAtOnceWhereThereIsAnotherServer() throws Exception {
    try (ServerCluster cluster = start(4, 4);
        TakoClient client = connect(cluster, "180s")) {
      try {
        awaitMembers(client, 3);
        write(client);
        change(client, 1 << 20);
        ServerProcess member = memberThatFollows(client, cluster);
        int id = ClusterHealth.of(client, member).getEntry().getId();
        member.kill();
        MemberDamage.PROMISE.of(member);
        long before = System.nanoTime();
        member.restart();
        ClusterHealth.await(
            client,
            "another member",
            LIMIT,
            status -> reached(status) == 3 && !GroupHealth.members(status).contains(id));
        System.out.println(
            "a damaged member is replaced after %d ms".formatted(ms(before, System.nanoTime())));
        awaitText(member, ANEW);
        awaitHealth(client, member, 200);
        checkFiles(client);
      } catch (Exception | AssertionError e) {
        throw explained(cluster, e);
      }
    }
  }

  /** There is nobody to go on without it, and an empty namespace would lose all files. */
  @Test
  void shouldNotStartWhereItIsTheOnlyMember() throws Exception {
    try (ServerCluster cluster = ServerCluster.start(2, "fs.tako.server.pool.size", "192m")) {
      ServerProcess only = cluster.servers().get(0);
      try (TakoClient client = Clients.connect(cluster.uri(), "tcp")) {
        ClusterHealth.awaitServers(client, 2, LIMIT);
        client.mkdirs("/d");
      }
      only.kill();
      MemberDamage.PROMISE.of(only);
      assertThat(catchThrowable(only::restart)).hasMessageContaining("has promised cannot be read");
      MemberDamage.PROMISE.of(only); // the bits are right again
      only.restart();
    }
  }

  // ---- servers ----------------------------------------------------------------------------------

  private ServerCluster start(int count, int all) throws Exception {
    System.out.println("tako.test.seed=" + seed);
    return ServerCluster.startSome(
        count,
        new String[all],
        "fs.tako.server.pool.size",
        "256m",
        "fs.tako.server.checkpoint.size",
        "1m");
  }

  /** A client that finds any of the servers, whichever leads. */
  private static TakoClient connect(ServerCluster cluster, String limit) throws IOException {
    String all =
        cluster.servers().stream()
            .map(server -> server.uri().getAuthority())
            .collect(Collectors.joining(","));
    return Clients.connect(
        CLUSTER,
        "tcp",
        "fs.tako.cluster.bay.servers",
        all,
        "fs.tako.replication",
        "1",
        "fs.tako.client.timeout",
        limit,
        "fs.tako.client.connect.timeout",
        limit);
  }

  private static AssertionError explained(ServerCluster cluster, Throwable e) throws IOException {
    for (ServerProcess server : cluster.servers()) {
      System.out.println(server.lastWords());
    }
    return new AssertionError(e);
  }

  private static long ms(long from, long to) {
    return TimeUnit.NANOSECONDS.toMillis(to - from);
  }

  private static int count(String log, String text) {
    return log.split(quote(text), -1).length - 1;
  }

  private static void awaitText(ServerProcess server, String text) throws Exception {
    Poll.until(text + " at " + server.uri(), LIMIT, () -> server.log().contains(text));
  }

  private static void awaitMembers(TakoClient client, int count) throws Exception {
    ClusterHealth.await(
        client, count + " members that get the log", LIMIT, status -> reached(status) == count);
  }

  private static long reached(ClusterStatus status) {
    GroupStatus group = status.getGroup();
    return group.getActive()
        ? group.getMembersList().stream()
            .filter(each -> each.getReached() && !each.getLearner())
            .count()
        : 0;
  }

  private static ServerProcess follower(TakoClient client, ServerCluster cluster) throws Exception {
    ServerProcess leader = ClusterHealth.awaitLeader(client, cluster, LIMIT);
    return cluster.servers().stream().filter(server -> server != leader).findFirst().orElseThrow();
  }

  private static ServerProcess memberThatFollows(TakoClient client, ServerCluster cluster)
      throws Exception {
    ServerProcess leader = ClusterHealth.awaitLeader(client, cluster, LIMIT);
    List<Integer> members = GroupHealth.members(client.administration().clusterStatus());
    for (ServerProcess server : cluster.servers()) {
      if (server != leader
          && members.contains(ClusterHealth.of(client, server).getEntry().getId())) {
        return server;
      }
    }
    throw new AssertionError("no other member among " + members);
  }

  /** Has {@code wanted} lead, which takes what it has to be whole. */
  private static void awaitLead(TakoClient client, ServerCluster cluster, ServerProcess wanted)
      throws Exception {
    int id = ClusterHealth.of(client, wanted).getEntry().getId();
    Poll.until(
        "it leads",
        LIMIT,
        TimeUnit.SECONDS.toNanos(1),
        () -> {
          tako(wanted, "group", "move-leader", Integer.toString(id));
          return ClusterHealth.awaitLeader(client, cluster, LIMIT) == wanted;
        });
    awaitMembers(client, 3);
  }

  private static String tako(ServerProcess server, String... words) throws Exception {
    return CommandLineRun.of(
            Map.of(
                "TAKO_URI",
                server.uri().toString(),
                "TAKO_CLIENT_OPTS",
                "-Dfs.tako.client.connect.timeout=4s -Dfs.tako.client.timeout=4s"),
            words)
        .output();
  }

  private static void awaitHealth(TakoClient client, ServerProcess server, int code)
      throws Exception {
    Poll.until("it is well", LIMIT, () -> health(server) == code);
    ClusterHealth.await(
        client,
        "nobody is in trouble",
        LIMIT,
        status -> status.getServersList().stream().allMatch(each -> each.getTrouble().isEmpty()));
  }

  private static int health(ServerProcess server) throws Exception {
    String log = server.log();
    Matcher pages = compile("http://[^,} \n]+").matcher(log.substring(log.indexOf("serving {")));
    assertThat(pages.find()).isTrue();
    String url = pages.group();
    HttpURLConnection connection =
        (HttpURLConnection) URI.create(url).resolve("/health").toURL().openConnection();
    return connection.getResponseCode();
  }

  // ---- files ------------------------------------------------------------------------------------

  /** A file with one copy, wherever that is. */
  private void write(TakoClient client) throws IOException {
    for (int i = 0; i < 6; i++) {
      String path = "/f" + files++;
      byte[] content = new byte[LENGTH];
      Pattern.fill(path, 0, content, LENGTH);
      try (TakoOutputStream out = client.create(path, CreateOptions.DEFAULT.withReplication(1))) {
        out.write(content);
      }
    }
  }

  /** Returns the value that there is at the end. */
  private byte[] change(TakoClient client, long bytes) throws IOException {
    byte[] value = new byte[VALUE_BYTES];
    for (long done = 0; done < bytes; done += VALUE_BYTES) {
      random.nextBytes(value);
      client.xattrs().set("/f0", "user.value", value, true, true);
    }
    return value;
  }

  private void checkFiles(TakoClient client) throws IOException {
    for (int i = 0; i < files; i++) {
      Pattern.check("/f" + i, Clients.read(client, "/f" + i));
    }
  }
}
