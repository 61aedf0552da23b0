package io.takofs.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.takofs.base.Clock;
import io.takofs.base.FreePorts;
import io.takofs.base.TakoException;
import io.takofs.config.TakoConfig;
import io.takofs.proto.ClusterMap;
import io.takofs.proto.GetClusterMap;
import io.takofs.proto.OpenSessionRequest;
import io.takofs.proto.Reply;
import io.takofs.proto.Request;
import io.takofs.proto.ServerEntry;
import io.takofs.proto.Status;
import io.takofs.rpc.ConnectionKind;
import io.takofs.rpc.RpcClient;
import io.takofs.rpc.RpcTarget;
import io.takofs.transport.tcp.TcpSettings;
import io.takofs.transport.tcp.TcpTransport;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Servers that their configurations make one cluster. */
@Timeout(120)
class RunningClusterTest {
  @TempDir Path directory;

  private final TcpTransport transport = new TcpTransport(TcpSettings.DEFAULT);
  private int first;
  private int second;

  @BeforeEach
  void choosePorts() throws IOException {
    List<Integer> ports = new FreePorts(new Random()).onLoopback(2);
    first = ports.get(0);
    second = ports.get(1);
  }

  @AfterEach
  void stop() {
    transport.close();
  }

  private RunningServer start(int port) throws IOException {
    return start(port, directory.resolve("catalog").toString());
  }

  private RunningServer start(int port, String catalog) throws IOException {
    String servers = "127.0.0.1:" + first + ",127.0.0.1:" + second;
    return start(config(port, catalog, servers));
  }

  private static RunningServer start(TakoConfig config) throws IOException {
    return RunningServer.start(config, System.getProperty("user.name"));
  }

  private TakoConfig alone(int port) throws TakoException {
    return config(port, "", "");
  }

  private TakoConfig config(int port, String catalog, String servers) throws TakoException {
    return new TakoConfig()
        .set("fs.tako.server.host", "127.0.0.1")
        .set("fs.tako.server.port", Integer.toString(port))
        .set("fs.tako.server.http.address", "")
        .set("fs.tako.server.pool.path", directory.resolve("pool-" + port).toString())
        .set("fs.tako.server.pool.size", "64m")
        .set("fs.tako.server.state.dir", directory.resolve("state-" + port).toString())
        .set("fs.tako.cluster.catalog.dir", catalog)
        .set("fs.tako.cluster.servers", servers);
  }

  private Reply call(int port, Request request) throws IOException {
    RpcTarget target = new RpcTarget(ConnectionKind.RPC, "127.0.0.1:" + port, "test", 0);
    try (RpcClient rpc =
        RpcClient.connect(transport, target, TestClient.TIMEOUT_NS, Clock.SYSTEM)) {
      return rpc.call(0, 0, request, System.nanoTime() + TestClient.TIMEOUT_NS);
    }
  }

  private ClusterMap map(int port) {
    Request get = Request.newBuilder().setGetClusterMap(GetClusterMap.getDefaultInstance()).build();
    try {
      return call(port, get).getClusterMap();
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  @Test
  void shouldJoinAndShowEveryServerToEverybody() throws Exception {
    try (RunningServer leader = start(first);
        RunningServer other = start(second)) {
      // The leader changes the map once more when it has committed an entry in its configuration.
      TestServer.await(() -> map(first).getServersCount() == 2 && map(second).equals(map(first)));
      assertThat(map(first).getServersList())
          .extracting(ServerEntry::getPort)
          .containsExactlyInAnyOrder(first, second);
      int lead = map(first).getGroups(0).getMembers(0);
      Reply reply =
          call(
              second,
              Request.newBuilder().setOpenSession(OpenSessionRequest.getDefaultInstance()).build());
      assertThat(reply.getStatus()).isEqualTo(Status.NOT_LEADER);
      assertThat(reply.getMessage()).contains("server " + lead + " at 127.0.0.1:" + first);
      assertThat(leader.uri().getPort()).isEqualTo(first);
      assertThat(other.uri().getPort()).isEqualTo(second);
    }
  }

  @Test
  void shouldNotJoinWithANamespaceOfItsOwnUnlessItIsTheFirst() throws Exception {
    start(alone(second)).close();
    assertThatThrownBy(() -> start(second).close())
        .isInstanceOf(TakoException.class)
        .hasMessageContaining("pool-" + second + " has a namespace")
        .hasMessageContaining("127.0.0.1:" + second + " is not the first server")
        .hasMessageContaining("make it the first");
    start(alone(first)).close();
    try (RunningServer leader = start(first)) {
      TestServer.await(() -> map(first).getServersCount() == 1);
      assertThat(leader.uri().getPort()).isEqualTo(first);
    }
  }

  @Test
  void shouldNotStartAloneWithThePoolOfACluster() throws Exception {
    try (RunningServer leader = start(first);
        RunningServer other = start(second)) {
      TestServer.await(() -> map(first).getServersCount() == 2);
      assertThat(leader.uri()).isNotEqualTo(other.uri());
    }
    for (int port : new int[] {first, second}) {
      assertThatThrownBy(() -> start(alone(port)).close())
          .isInstanceOf(TakoException.class)
          .hasMessageContaining("pool-" + port + " is of server")
          .hasMessageContaining("fs.tako.cluster.servers names no server")
          .hasMessageContaining("tako server --format");
    }
    start(second).close();
  }

  @Test
  void shouldRefuseTheDirectoryOfAnotherPeerOfTheCatalog() throws Exception {
    String servers = "127.0.0.1:" + first + ",127.0.0.2:" + first + ",127.0.0.3:" + first;
    TakoConfig one = config(first, "", servers);
    TakoConfig two =
        config(first, "", servers)
            .set("fs.tako.server.host", "127.0.0.2")
            .set("fs.tako.server.pool.path", directory.resolve("pool-two").toString());
    try (RunningServer leader = start(one)) {
      assertThat(leader.uri().getPort()).isEqualTo(first);
      assertThatThrownBy(() -> start(two).close())
          .isInstanceOf(TakoException.class)
          .hasMessageContaining("catalog-" + first + " is the directory of another server")
          .hasMessageContaining("fs.tako.server.state.dir");
    }
    start(one).close(); // the directory is free again
  }

  @Test
  void shouldKeepTheCatalogInTheFirstOfTwoServers() throws Exception {
    try (RunningServer other = start(second, "")) {
      try (RunningServer leader = start(first, "")) {
        TestServer.await(
            () -> map(first).getServersCount() == 2 && map(second).getServersCount() == 2);
        assertThat(leader.uri().getPort()).isEqualTo(first);
      }
      long epoch = map(second).getEpoch();
      try (RunningServer leader = start(first, "")) {
        TestServer.await(() -> map(first).getEpoch() > epoch);
        assertThat(map(first).getServersCount()).isEqualTo(2);
        assertThat(leader.uri().getPort()).isEqualTo(first);
      }
      assertThat(other.uri().getPort()).isEqualTo(second);
    }
  }

  @Test
  void shouldSayWhyItHasNotJoined() throws Exception {
    try (RunningServer alone = start(second)) {
      Request open =
          Request.newBuilder().setOpenSession(OpenSessionRequest.getDefaultInstance()).build();
      TestServer.await(() -> messageTo(open).contains("the catalog is empty: the first of"));
      assertThat(messageTo(open)).startsWith("the server has not joined its cluster yet: ");
      assertThat(call(second, open).getStatus()).isEqualTo(Status.UNAVAILABLE);
      assertThat(alone.uri().getPort()).isEqualTo(second);
    }
  }

  private String messageTo(Request request) {
    try {
      return call(second, request).getMessage();
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  @Test
  void shouldSayWhoIsNotInTheList() throws Exception {
    int stranger = first == 7420 ? 7421 : 7420;
    assertThatThrownBy(() -> start(stranger).close())
        .isInstanceOfSatisfying(
            TakoException.class, e -> assertThat(e.status()).isEqualTo(Status.INVALID_ARGUMENT))
        .hasMessageContaining("fs.tako.cluster.servers")
        .hasMessageContaining("" + stranger);
  }
}
