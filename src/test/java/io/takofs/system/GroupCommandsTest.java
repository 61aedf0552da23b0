package io.takofs.system;

import static org.assertj.core.api.Assertions.assertThat;

import io.takofs.client.TakoClient;
import io.takofs.proto.ClusterStatus;
import io.takofs.proto.ServerHealth;
import io.takofs.server.catalog.ClusterMaps;
import java.net.URI;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** {@code tako group}, given any server of four, of which three keep the namespace. */
@Timeout(value = 4, unit = TimeUnit.MINUTES)
class GroupCommandsTest {
  private static final int SERVERS = 4;
  private static final int MEMBERS = 3;
  private static final Duration LIMIT = Duration.ofMinutes(1);

  private static ServerCluster cluster;
  private static TakoClient client;

  @BeforeAll
  static void start() throws Exception {
    cluster = ServerCluster.start(SERVERS, "fs.tako.server.pool.size", "256m");
    client = ClusterClients.connect(cluster, "tcp", ClusterLoad.settings());
  }

  @AfterAll
  static void stop() throws Exception {
    if (client != null) {
      client.close();
    }
    if (cluster != null) {
      cluster.close();
    }
  }

  private static CommandLineRun group(String... words) throws Exception {
    URI any = cluster.servers().get(SERVERS - 1).uri();
    String[] all = new String[words.length + 1];
    all[0] = "group";
    System.arraycopy(words, 0, all, 1, words.length);
    return CommandLineRun.of(Map.of("TAKO_URI", any.toString()), all);
  }

  private static ClusterStatus steady() throws Exception {
    ClusterHealth.awaitServers(client, SERVERS, LIMIT);
    GroupHealth.awaitMembers(client, MEMBERS, LIMIT);
    return client.administration().clusterStatus();
  }

  private static String address(ClusterStatus status, int id) {
    return status.getServersList().stream()
        .map(ServerHealth::getEntry)
        .filter(entry -> entry.getId() == id)
        .map(ClusterMaps::address)
        .findFirst()
        .orElseThrow();
  }

  private static int spare(ClusterStatus status) {
    return status.getServersList().stream()
        .map(server -> server.getEntry().getId())
        .filter(id -> !GroupHealth.members(status).contains(id))
        .findFirst()
        .orElseThrow();
  }

  @Test
  void shouldShowWhoLeadsAndTheMembers() throws Exception {
    int leader = steady().getLeader();
    CommandLineRun run = group("status");
    assertThat(run.code()).as(run.output()).isZero();
    assertThat(run.output())
        .contains("led by server " + leader)
        .containsPattern("member   " + leader + " .*leads")
        .doesNotContain("learner", "is not reached");
  }

  @Test
  void shouldMoveTheLeaderToAnyOtherAndToTheOneThatIsNamed() throws Exception {
    int former = steady().getLeader();
    CommandLineRun any = group("move-leader");
    assertThat(any.code()).as(any.output()).isZero();
    assertThat(any.output()).containsPattern("server \\d leads").doesNotContain(former + " leads");

    CommandLineRun back = group("move-leader", address(steady(), former));
    assertThat(back.code()).as(back.output()).isZero();
    assertThat(back.output()).contains("server " + former + " leads");
    assertThat(steady().getLeader()).isEqualTo(former);
  }

  @Test
  void shouldReplaceAMember() throws Exception {
    ClusterStatus before = steady();
    int comes = spare(before);
    int leaves =
        GroupHealth.members(before).stream()
            .filter(id -> id != before.getLeader())
            .findFirst()
            .orElseThrow();
    CommandLineRun run = group("replace", Integer.toString(leaves), Integer.toString(comes));
    assertThat(run.code()).as(run.output()).isZero();
    assertThat(GroupHealth.members(steady())).contains(comes).doesNotContain(leaves);
  }

  @Test
  void shouldSayWhichNumberIsWrong() throws Exception {
    ClusterStatus status = steady();
    int leader = status.getLeader();
    int spare = spare(status);
    refuses("server " + spare + " is no member of the group", "move-leader", "" + spare);
    refuses("server 77 is no member of the group", "replace", "77", "" + spare);
    refuses(" cannot take its own place", "replace", "" + leader, "" + leader);
    refuses("the cluster has no server 77", "replace", "" + leader, "77");
    int other =
        GroupHealth.members(status).stream().filter(each -> each != leader).findAny().orElseThrow();
    refuses(
        "server " + other + " is a member of the group already",
        "replace",
        "" + leader,
        "" + other);
    assertThat(steady().getLeader()).isEqualTo(leader);
  }

  private static void refuses(String reason, String... words) throws Exception {
    CommandLineRun run = group(words);
    assertThat(run.code()).as(run.output()).isNotZero();
    assertThat(run.output()).contains(reason).doesNotContain("Exception");
  }
}
