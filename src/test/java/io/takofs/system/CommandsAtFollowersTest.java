package io.takofs.system;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import io.takofs.client.CreateOptions;
import io.takofs.client.TakoClient;
import io.takofs.client.TakoOutputStream;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer.OrderAnnotation;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.Timeout;

/** Commands that are given any server of a cluster, with and without the one that leads. */
@TestMethodOrder(OrderAnnotation.class)
@Timeout(value = 4, unit = TimeUnit.MINUTES)
class CommandsAtFollowersTest {
  private static final int SERVERS = 3;
  private static final Duration LIMIT = Duration.ofMinutes(1);

  private static ServerCluster cluster;
  private static URI leader;
  private static URI follower;

  @BeforeAll
  static void start() throws Exception {
    cluster =
        ServerCluster.start(SERVERS, "fs.tako.replication.min", "3", "fs.tako.group.members", "1");
    leader = cluster.uri();
    follower = cluster.servers().get(SERVERS - 1).uri();
  }

  @AfterAll
  static void stop() throws Exception {
    if (cluster != null) {
      cluster.close();
    }
  }

  /** A run that ends a while after it has found nobody: long enough for a busy machine. */
  private static CommandLineRun tako(URI server, String... words) throws Exception {
    return CommandLineRun.of(
        Map.of(
            "TAKO_URI",
            server.toString(),
            "TAKO_CLIENT_OPTS",
            "-Dfs.tako.client.connect.timeout=8s"),
        words);
  }

  /** What a command that succeeds says, but for the server that it was given, and for times. */
  private static String said(URI server, String... words) throws Exception {
    CommandLineRun run = tako(server, words);
    assertThat(run.code()).as(run.output()).isZero();
    return run.output().replaceAll("\\d\\d:\\d\\d:\\d\\d", "TIME");
  }

  /** What the commands say that are given one server; nothing that is of a moment. */
  private record Answers(
      String status,
      String leases,
      String fsck,
      String locations,
      String top,
      Map<Integer, Boolean> reached) {
    static Answers of(URI server) throws Exception {
      return new Answers(
          lasting(said(server, "status")),
          said(server, "leases"),
          said(server, "fsck", "-openforwrite", "/"),
          said(server, "fsck", "--locations", "/open"),
          said(server, "top", "--once", "--interval", "0.1")
              .lines()
              .filter(line -> line.startsWith("cluster"))
              .collect(Collectors.joining()),
          serversReached(said(server, "doctor", "--json", server.toString())));
    }

    /** The lines about the files and the servers, without what the servers use of their space. */
    private static String lasting(String status) {
      return status
          .lines()
          .filter(line -> line.matches("(namespace|servers|  \\d ).*"))
          .map(line -> line.replaceAll("; \\d+ of \\d+ metadata pages", ""))
          .map(line -> line.replaceAll(" [0-9.]+ ([KMG]i)?B .* (\\S+)$", " $2"))
          .collect(Collectors.joining("\n"));
    }
  }

  /** How the servers of the cluster are reached, by their ids. */
  private static Map<Integer, Boolean> serversReached(String doctor) {
    JsonObject all = JsonParser.parseString(doctor).getAsJsonObject();
    return all.getAsJsonObject("server").getAsJsonArray("data_server").asList().stream()
        .map(each -> each.getAsJsonObject())
        .collect(
            Collectors.toMap(
                each -> each.get("id").getAsInt(), each -> each.get("reached").getAsBoolean()));
  }

  /** Runs all of {@code works} at once, for they wait for most of the time. */
  private static <T> List<T> together(List<Callable<T>> works) throws Exception {
    ExecutorService threads = Executors.newFixedThreadPool(works.size());
    try {
      List<T> results = new ArrayList<>();
      for (Future<T> each : threads.invokeAll(works)) {
        results.add(each.get());
      }
      return results;
    } finally {
      threads.shutdownNow();
    }
  }

  @Test
  @Order(1)
  void shouldSayTheSameWhicheverServerIsAsked() throws Exception {
    try (TakoClient client = Clients.connect(leader, "tcp");
        TakoOutputStream open = client.create("/open", CreateOptions.DEFAULT)) {
      ClusterHealth.awaitServers(client, SERVERS, LIMIT);
      open.write(new byte[1_000_000]);
      open.hflush();
      List<Callable<Answers>> asked = new ArrayList<>();
      for (ServerProcess server : cluster.servers()) {
        asked.add(() -> Answers.of(server.uri()));
      }
      List<Answers> answers = together(asked);
      Answers first = answers.get(0);
      assertThat(first.status())
          .contains("namespace    1 file (1 open), 1 directory")
          .contains("servers      3, of which all are well")
          .containsPattern("  1  " + leader.getAuthority() + " +up .* well");
      assertThat(first.leases()).contains("/open");
      assertThat(first.fsck()).contains("/open 1000000 bytes: OK, open for writing", "HEALTHY");
      assertThat(first.locations())
          .containsPattern("replication 3\n  offset 0, 1000000 bytes: 3 copies on ")
          .contains(cluster.servers().stream().map(each -> each.uri().getAuthority()).toList());
      assertThat(first.top()).contains("3 servers, all are well");
      assertThat(first.reached()).hasSize(SERVERS).doesNotContainValue(false);
      assertThat(answers).allMatch(first::equals);
    }
  }

  @Test
  @Order(2)
  void shouldSayWhoIsThereWhileTheServerOfTheNamespaceIsDown() throws Exception {
    cluster.servers().get(0).kill();
    List<CommandLineRun> runs =
        together(
            List.of(
                () -> tako(follower, "status"),
                () -> tako(follower, "status", "--json"),
                () -> tako(follower, "doctor", "--json", follower.toString()),
                () -> tako(follower, "leases")));
    assertThat(runs).allMatch(run -> run.code() == 1);
    String missing = "server 1 at " + leader.getAuthority() + " has the namespace and does not";
    String refused = "cannot connect to " + leader.getAuthority() + ": Connection refused";
    assertThat(runs.get(0).output())
        .contains("namespace    " + missing + " answer: ", refused)
        .containsPattern("  1  " + leader.getAuthority() + " up .* (does not answer|.*refused)")
        .containsPattern("  [23]  " + follower.getAuthority() + " up .* well");
    JsonObject json = JsonParser.parseString(runs.get(1).output()).getAsJsonObject();
    assertThat(json.get("problem").getAsString()).startsWith(missing).contains(refused);
    assertThat(json.getAsJsonObject("cluster").getAsJsonArray("servers")).hasSize(SERVERS);
    String doctor = runs.get(2).output();
    assertThat(doctor).contains(missing);
    assertThat(serversReached(doctor).values()).containsExactlyInAnyOrder(false, true, true);
    assertThat(runs.get(3).output()).contains(refused);

    cluster.servers().get(0).restart();
    assertThat(said(follower, "status")).contains("servers      3, of which");
  }

  @Test
  @Order(3)
  void shouldCountTheFilesWithFewerCopies() throws Exception {
    assertThat(said(follower, "fsck", "/")).containsPattern("with fewer copies +0\n");
    cluster.servers().get(1).kill();
    Poll.until(
        "the server counts as silent",
        LIMIT,
        () -> said(follower, "fsck", "/").matches("(?s).*with fewer copies +1\n.*"));
    assertThat(said(follower, "fsck", "--files", "/"))
        .contains("/open 1000000 bytes: OK, fewer than 3 copies\n", "HEALTHY");

    cluster.servers().get(1).losePool();
    cluster.servers().get(1).restart();
    Poll.until(
        "copies on the server that has the address of the lost one",
        LIMIT,
        () -> said(follower, "fsck", "/").matches("(?s).*with fewer copies +0\n.*"));
    assertThat(said(follower, "status")).contains("its pool is gone; when all copies are there");
  }
}
