package io.takofs.server;

import static io.takofs.server.TestServer.await;
import static org.assertj.core.api.Assertions.assertThat;

import io.takofs.base.Clock;
import io.takofs.layout.Layout;
import io.takofs.proto.Leadership;
import io.takofs.proto.ListSlabs;
import io.takofs.proto.OpenDataSession;
import io.takofs.proto.OpenServerSession;
import io.takofs.proto.OpenSnapshot;
import io.takofs.proto.Reply;
import io.takofs.proto.Request;
import io.takofs.proto.Status;
import io.takofs.rpc.ConnectionKind;
import io.takofs.rpc.RpcClient;
import io.takofs.rpc.RpcTarget;
import io.takofs.server.peer.PeerServers;
import io.takofs.transport.tcp.TcpSettings;
import io.takofs.transport.tcp.TcpTransport;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A leader, and a server that keeps slabs for it. */
@Timeout(120)
class ServerConnectionTest {
  private static final Request LIST =
      Request.newBuilder()
          .setListSlabs(
              ListSlabs.newBuilder()
                  .setLeader(Leadership.newBuilder().setGroup(1).setTerm(1))
                  .setFirstPage(true))
          .build();
  private static final Request SNAPSHOT =
      Request.newBuilder().setOpenSnapshot(OpenSnapshot.newBuilder().setGroup(1)).build();
  private static final Reply LOCAL = Reply.newBuilder().setMessage("from here").build();

  @TempDir Path directory;

  private final TestCluster cluster = new TestCluster(1, "secret");
  private final TcpTransport transport = new TcpTransport(TcpSettings.DEFAULT);
  private final List<Reply> answers = new ArrayList<>();
  private TestServer server;

  @BeforeEach
  void start() throws Exception {
    TestCluster there = new TestCluster(2, "secret");
    server = TestServer.inCluster(directory.resolve("pool"), new ManualClock(), there, false);
  }

  @AfterEach
  void stop() {
    transport.close();
    server.close();
  }

  private PeerServers peers(TestCluster known) {
    return new PeerServers(known, request -> LOCAL, transport, Clock.SYSTEM);
  }

  private Reply ask(PeerServers peers, int id) {
    answers.clear();
    peers.call(id, LIST, answers::add);
    await(
        () -> {
          peers.deliver();
          return !answers.isEmpty();
        });
    assertThat(answers).hasSize(1);
    return answers.get(0);
  }

  @Test
  void shouldKeepNoThreadForAServerThatIsLost() {
    cluster.move(server.endpoint());
    try (PeerServers peers = peers(cluster)) {
      ask(peers, 2);
      assertThat(threads("tako-server-2")).isNotEmpty();
      cluster.replace();
      ask(peers, 3);
      await(() -> threads("tako-server-2").isEmpty());
      assertThat(ask(peers, 2).getStatus()).isEqualTo(Status.UNAVAILABLE);
    }
  }

  private static List<Thread> threads(String name) {
    return Thread.getAllStackTraces().keySet().stream()
        .filter(thread -> thread.getName().equals(name))
        .toList();
  }

  @Test
  void shouldAnswerAtOnceForThisServerAndLaterForAnother() {
    cluster.move(server.endpoint());
    try (PeerServers peers = peers(cluster)) {
      peers.call(1, LIST, answers::add);
      assertThat(answers).containsExactly(LOCAL);
      Reply reply = ask(peers, 2);
      assertThat(reply.getStatus()).isEqualTo(Status.OK);
      assertThat(reply.hasHeldSlabs()).isTrue();
      assertThat(ask(peers, 9).getStatus()).isEqualTo(Status.UNAVAILABLE);
    }
  }

  @Test
  void shouldReachAServerThatComesBack() {
    try (PeerServers peers = peers(cluster)) {
      Reply refused = ask(peers, 2);
      assertThat(refused.getStatus()).isEqualTo(Status.UNAVAILABLE);
      assertThat(refused.getMessage()).contains("server 2 at 127.0.0.1:1");
      cluster.move(server.endpoint());
      await(() -> ask(peers, 2).getStatus() == Status.OK);
    }
  }

  @Test
  void shouldAnswerEveryCallWhenItCloses() {
    cluster.move(server.endpoint());
    PeerServers peers = peers(cluster);
    for (int i = 0; i < 2000; i++) {
      peers.call(2, LIST, answers::add);
    }
    peers.close();
    peers.call(2, LIST, answers::add);
    peers.deliver();
    assertThat(answers).hasSize(2001);
    assertThat(answers.get(2000).getStatus()).isEqualTo(Status.UNAVAILABLE);
  }

  @Test
  void shouldRefuseAServerWithAnotherSecret() {
    TestCluster stranger = new TestCluster(1, "other");
    stranger.move(server.endpoint());
    try (PeerServers peers = peers(stranger)) {
      Reply reply = ask(peers, 2);
      assertThat(reply.getStatus()).isEqualTo(Status.UNAVAILABLE);
      assertThat(reply.getMessage()).contains("fs.tako.cluster.secret.file");
    }
  }

  @Test
  void shouldRefuseCallsWithoutASession() throws Exception {
    try (RpcClient rpc = connect()) {
      assertThat(call(rpc, LIST).getStatus()).isEqualTo(Status.SESSION_EXPIRED);
      assertThat(call(rpc, SNAPSHOT).getStatus()).isEqualTo(Status.SESSION_EXPIRED);
      assertThat(call(rpc, TestClient.mkdirs("/a")).getStatus()).isEqualTo(Status.UNSUPPORTED);
      OpenServerSession other =
          OpenServerSession.newBuilder()
              .setProtocolVersion(Layout.PROTOCOL_VERSION)
              .setLayoutHash(Layout.LAYOUT_HASH)
              .setClusterId(1)
              .build();
      Reply reply = call(rpc, Request.newBuilder().setOpenServerSession(other).build());
      assertThat(reply.getStatus()).isEqualTo(Status.PERMISSION_DENIED);
      assertThat(reply.getMessage()).contains("of cluster 0000000000000001");
    }
  }

  /** It has no keys yet by which it could tell clients, and no number that others could sign. */
  @Test
  void shouldBelieveNobodyBeforeItHasJoined() throws Exception {
    TestCluster outside = new TestCluster(0, "secret");
    try (TestServer alone =
            TestServer.inCluster(directory.resolve("outside"), new ManualClock(), outside, false);
        RpcClient peer = connect(alone, ConnectionKind.SERVER);
        RpcClient client = connect(alone, ConnectionKind.CONTROL)) {
      assertThat(open(peer, session()).getStatus()).isEqualTo(Status.UNAVAILABLE);
      OpenDataSession data =
          OpenDataSession.newBuilder()
              .setProtocolVersion(Layout.PROTOCOL_VERSION)
              .setLayoutHash(Layout.LAYOUT_HASH)
              .setClientId(7)
              .setTicket(outside.ticket(7, 1))
              .build();
      Reply reply = call(client, Request.newBuilder().setOpenDataSession(data).build());
      assertThat(reply.getStatus()).isEqualTo(Status.UNAVAILABLE);
      assertThat(reply.getMessage()).contains("not joined");
    }
  }

  private static OpenServerSession session() {
    return OpenServerSession.newBuilder()
        .setProtocolVersion(Layout.PROTOCOL_VERSION)
        .setLayoutHash(Layout.LAYOUT_HASH)
        .setClusterId(TestCluster.ID)
        .setServer(1)
        .setCalled(2)
        .build();
  }

  /** Its pool is gone, and another server has its address. */
  @Test
  void shouldRefuseLeadersThatMeanAnotherServer() throws Exception {
    OpenServerSession other = session().toBuilder().setCalled(3).build();
    try (RpcClient rpc = connect()) {
      Reply reply = open(rpc, cluster.sign(other, 3));
      assertThat(reply.getStatus()).isEqualTo(Status.DISCONNECTED);
      assertThat(reply.getMessage()).contains("this is server 2, and not server 3");
      assertThat(call(rpc, LIST).getStatus()).isEqualTo(Status.SESSION_EXPIRED);
    }
  }

  /** What was overheard of another server's session: all that it sent, with its signature. */
  @Test
  void shouldRefuseASessionThatIsRepeated() throws Exception {
    OpenServerSession first = session();
    OpenServerSession signed;
    try (RpcClient rpc = connect()) {
      assertThat(open(rpc, cluster.sign(first, 2)).getChallenge()).isPositive();
      assertThat(call(rpc, LIST).getStatus()).isEqualTo(Status.SESSION_EXPIRED);
      long challenge = open(rpc, first).getChallenge();
      signed = cluster.sign(first.toBuilder().setChallenge(challenge).build(), 2);
      assertThat(open(rpc, signed).getStatus()).isEqualTo(Status.OK);
      assertThat(call(rpc, LIST).getStatus()).isEqualTo(Status.OK);
    }
    try (RpcClient rpc = connect()) {
      assertThat(open(rpc, signed).getStatus()).isEqualTo(Status.PERMISSION_DENIED);
      open(rpc, first);
      assertThat(open(rpc, signed).getStatus()).isEqualTo(Status.PERMISSION_DENIED);
      assertThat(call(rpc, LIST).getStatus()).isEqualTo(Status.SESSION_EXPIRED);
    }
  }

  private RpcClient connect() throws IOException {
    return connect(server, ConnectionKind.SERVER);
  }

  private RpcClient connect(TestServer to, ConnectionKind kind) throws IOException {
    RpcTarget target = new RpcTarget(kind, to.endpoint(), "test", 7);
    return RpcClient.connect(transport, target, TestClient.TIMEOUT_NS, Clock.SYSTEM);
  }

  private static Reply open(RpcClient rpc, OpenServerSession session) throws Exception {
    return call(rpc, Request.newBuilder().setOpenServerSession(session).build());
  }

  private static Reply call(RpcClient rpc, Request request) throws Exception {
    return rpc.call(0, 0, request, System.nanoTime() + TestClient.TIMEOUT_NS);
  }
}
