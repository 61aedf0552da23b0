package io.takofs.system;

import static org.assertj.core.api.Assertions.assertThat;

import io.takofs.base.Clock;
import io.takofs.client.CreateOptions;
import io.takofs.client.TakoClient;
import io.takofs.client.TakoOutputStream;
import io.takofs.proto.MemberStatus;
import io.takofs.server.catalog.CatalogClient;
import io.takofs.server.catalog.PeerStatus;
import io.takofs.server.catalog.PeerStatus.Role;
import io.takofs.server.catalog.ServerSecret;
import io.takofs.server.catalog.raft.PeerConnections;
import io.takofs.server.catalog.raft.RatisConfigStore;
import io.takofs.transport.tcp.TcpSettings;
import io.takofs.transport.tcp.TcpTransport;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Four servers, of which the first three keep the catalog. */
@Timeout(value = 6, unit = TimeUnit.MINUTES)
class CatalogTest {
  private static final Duration LIMIT = Duration.ofSeconds(60);

  /** Between two questions who the peers are. */
  private static final long PAUSE_NS = TimeUnit.MILLISECONDS.toNanos(100);

  private static final int SERVERS = 4;
  private static final int PEERS = 3;
  private static final int SIGTERM = 128 + 15; // exit code
  private static final int KILLS = Integer.getInteger("tako.test.catalog.kills", 1);

  private final TcpTransport transport = new TcpTransport(TcpSettings.DEFAULT);
  private final PeerConnections connections =
      new PeerConnections(transport, ServerSecret.NONE, new SecureRandom(), Clock.SYSTEM);
  private ServerCluster cluster;
  private RatisConfigStore store;
  private TakoClient client;

  @BeforeEach
  void start() throws Exception {
    cluster = ServerCluster.start(SERVERS, "fs.tako.cluster.catalog.dir", "");
    List<String> peers =
        cluster.servers().subList(0, PEERS).stream()
            .map(server -> ServerAddress.host() + ":" + server.uri().getPort())
            .toList();
    store = new RatisConfigStore(peers, connections, Clock.SYSTEM);
    client = Clients.connect(cluster.uri(), "tcp", "fs.tako.client.connect.timeout", "30s");
    awaitPeers();
    ClusterHealth.awaitServers(client, SERVERS, LIMIT);
  }

  @AfterEach
  void stop() throws Exception {
    if (client != null) {
      client.close();
    }
    if (cluster != null) {
      cluster.close();
    }
    connections.close();
    transport.close();
  }

  private void awaitPeers() throws Exception {
    try {
      Poll.until(
          "three peers of the catalog",
          LIMIT,
          PAUSE_NS,
          () -> {
            List<Role> roles = store.peers().stream().map(PeerStatus::role).sorted().toList();
            return roles.equals(List.of(Role.LEADER, Role.FOLLOWER, Role.FOLLOWER));
          });
    } catch (AssertionError e) {
      System.out.println(store.peers());
      for (ServerProcess server : cluster.servers()) {
        System.out.println(server.lastWords());
      }
      throw e;
    }
  }

  /** The peer that leads, once one does: there may be another election on a busy machine. */
  private int leader() throws Exception {
    AtomicInteger leader = new AtomicInteger();
    Poll.until(
        "a leader of the catalog",
        LIMIT,
        PAUSE_NS,
        () -> {
          leader.set(store.peers().stream().map(PeerStatus::role).toList().indexOf(Role.LEADER));
          return leader.get() >= 0;
        });
    return leader.get();
  }

  /**
   * Has three members in the group, of which the first server is one, and {@code index} another.
   */
  private void haveMember(int index) throws Exception {
    GroupHealth.awaitMembers(client, PEERS, LIMIT);
    int first = number(0);
    int wanted = number(index);
    List<Integer> members =
        client.administration().clusterStatus().getGroup().getMembersList().stream()
            .map(MemberStatus::getServer)
            .toList();
    if (!members.contains(wanted)) {
      int leaves = members.stream().filter(each -> each != first).findFirst().orElseThrow();
      client.administration().replaceMember(leaves, wanted);
      ClusterHealth.await(
          client,
          wanted + " is a member",
          LIMIT,
          status ->
              status.getGroup().getMembersList().stream()
                  .anyMatch(member -> member.getServer() == wanted && !member.getLearner()));
      GroupHealth.awaitMembers(client, PEERS, LIMIT);
    }
  }

  private int number(int index) throws Exception {
    return ClusterHealth.of(client, cluster.servers().get(index)).getEntry().getId();
  }

  private void writeAndRead(String path, int copies) throws Exception {
    byte[] content = new byte[1_000_000];
    Pattern.fill(path, 0, content, content.length);
    CreateOptions options = CreateOptions.DEFAULT.withReplication(copies);
    try (TakoOutputStream out = client.create(path, options)) {
      out.write(content, 0, content.length);
    }
    assertThat(Clients.read(client, path)).isEqualTo(content);
  }

  @Test
  void shouldGoOnWhenItsLeaderIsKilled() throws Exception {
    for (int round = 0; round < KILLS; round++) {
      writeAndRead("/before-" + round, 2);
      int killed = leader();
      cluster.servers().get(killed).kill();
      assertThat(new CatalogClient(store).requireMap().getServersCount()).isEqualTo(SERVERS);
      cluster.servers().get(killed).restart();
      awaitPeers();
      assertThat(Clients.read(client, "/before-" + round)).hasSize(1_000_000);
      ClusterHealth.awaitServers(client, SERVERS, LIMIT);
    }
    assertThat(new CatalogClient(store).requireMap().getServersCount()).isEqualTo(SERVERS);
  }

  @Test
  void shouldLetItsServersStopWithoutAWarning() throws Exception {
    for (int last = SERVERS - 1; last >= 0; last--) {
      ServerProcess server = cluster.servers().get(last);
      int before = server.log().length();
      assertThat(server.terminate()).isIn(0, SIGTERM);
      // A server may warn of others that are away; Log4j has nothing to warn of.
      assertThat(server.log().substring(before)).contains("Tako stopped").doesNotContain("Log4j");
    }
  }

  @Test
  void shouldBeOfNoMatterToClientsWhileItIsAway() throws Exception {
    haveMember(PEERS);
    writeAndRead("/before", 2);
    cluster.servers().get(1).kill();
    cluster.servers().get(2).kill();
    long start = System.nanoTime();
    for (int i = 0; System.nanoTime() - start < TimeUnit.SECONDS.toNanos(15); i++) {
      writeAndRead("/meanwhile-" + i, 2);
      client.delete("/meanwhile-" + i, false);
    }
    for (int again : List.of(PEERS, 0)) {
      cluster.servers().get(again).kill();
      cluster.servers().get(again).restart();
      ClusterHealth.awaitServers(client, 2, LIMIT); // it goes on with its copy
      writeAndRead("/with-two-" + again, 2);
    }
    cluster.servers().get(1).restart();
    cluster.servers().get(2).restart();
    awaitPeers();
    ClusterHealth.awaitServers(client, SERVERS, LIMIT);
    writeAndRead("/after", 3);
  }

  @Test
  void shouldTakeAServerWithoutItsDirectoryInAgain() throws Exception {
    for (int lost : List.of(2, 0)) {
      String former = store.peers().get(lost).id();
      ServerProcess server = cluster.servers().get(lost);
      server.kill();
      server.loseCatalog();
      server.restart();
      awaitPeers();
      assertThat(store.peers().get(lost).id()).isNotEqualTo(former);
      ClusterHealth.awaitServers(client, SERVERS, LIMIT);
    }
    assertThat(new CatalogClient(store).requireMap().getServersCount()).isEqualTo(SERVERS);
  }
}
