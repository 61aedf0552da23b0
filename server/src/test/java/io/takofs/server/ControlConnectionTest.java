package io.takofs.server;

import static io.takofs.server.TestServer.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.takofs.base.Clock;
import io.takofs.base.TakoException;
import io.takofs.layout.Layout;
import io.takofs.proto.ClusterStatus;
import io.takofs.proto.GetArenas;
import io.takofs.proto.GetClusterMap;
import io.takofs.proto.GetClusterStatus;
import io.takofs.proto.Leadership;
import io.takofs.proto.LeaseSlabs;
import io.takofs.proto.LeasedSlab;
import io.takofs.proto.OpenDataSession;
import io.takofs.proto.OpenSessionRequest;
import io.takofs.proto.RemoteArena;
import io.takofs.proto.Reply;
import io.takofs.proto.Request;
import io.takofs.proto.ReturnSlabs;
import io.takofs.proto.ReturnedSlab;
import io.takofs.proto.SessionTicket;
import io.takofs.proto.Status;
import io.takofs.rpc.ConnectionInfo;
import io.takofs.rpc.ConnectionKind;
import io.takofs.rpc.RpcClient;
import io.takofs.rpc.RpcTarget;
import io.takofs.transport.Access;
import io.takofs.transport.CompletionQueue;
import io.takofs.transport.MemoryRegion;
import io.takofs.transport.ProtectionDomain;
import io.takofs.transport.QueuePair;
import io.takofs.transport.QueuePairConfig;
import io.takofs.transport.ScatterGather;
import io.takofs.transport.tcp.TcpSettings;
import io.takofs.transport.tcp.TcpTransport;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A server that leads nothing, and the clients whose session is elsewhere. */
@Timeout(120)
class ControlConnectionTest {
  private static final long CLIENT = 77;
  private static final int STORED = 4096;
  private static final Leadership LEADER = Leadership.newBuilder().setGroup(1).setTerm(1).build();
  private static final Request GET_ARENAS =
      Request.newBuilder().setGetArenas(GetArenas.getDefaultInstance()).build();
  private static final Request GET_MAP =
      Request.newBuilder().setGetClusterMap(GetClusterMap.getDefaultInstance()).build();

  @TempDir Path directory;

  private final TestCluster cluster = new TestCluster(2, "secret");
  private final TcpTransport transport = new TcpTransport(TcpSettings.DEFAULT);
  private TestServer server;
  private RpcClient control;
  private long requests;

  @BeforeEach
  void start() throws Exception {
    server = TestServer.inCluster(directory.resolve("pool"), new ManualClock(), cluster, false);
    control = connect(ConnectionKind.CONTROL);
  }

  @AfterEach
  void stop() {
    control.close();
    transport.close();
    server.close();
  }

  private RpcClient connect(ConnectionKind kind) throws IOException {
    RpcTarget target = new RpcTarget(kind, server.endpoint(), "test", CLIENT);
    return RpcClient.connect(transport, target, TestClient.TIMEOUT_NS, Clock.SYSTEM);
  }

  private static Reply call(RpcClient client, Request request) throws TakoException {
    return client.call(0, 0, request, System.nanoTime() + TestClient.TIMEOUT_NS);
  }

  private Request open(SessionTicket ticket) {
    return open(ticket, cluster.serverId());
  }

  private static Request open(SessionTicket ticket, int server) {
    return Request.newBuilder()
        .setOpenDataSession(
            OpenDataSession.newBuilder()
                .setProtocolVersion(Layout.PROTOCOL_VERSION)
                .setLayoutHash(Layout.LAYOUT_HASH)
                .setClientId(CLIENT)
                .setTicket(ticket)
                .setServer(server))
        .build();
  }

  private void openSession() throws TakoException {
    TestClient.ok(call(control, open(cluster.ticket(CLIENT, 1))));
  }

  private QueuePair connectData() throws IOException {
    CompletionQueue completions = transport.createCompletionQueue(16);
    return transport.connect(
        server.endpoint(),
        new QueuePairConfig(transport.allocateProtectionDomain(), completions, completions, 16, 0),
        ConnectionInfo.ours(Layout.CONNECTION_DATA, CLIENT, 0, 0, 0).pack(),
        TestClient.TIMEOUT_NS);
  }

  @Test
  void shouldTellEveryCallerTheMap() throws Exception {
    assertThat(call(control, GET_MAP).getClusterMap()).isEqualTo(cluster.map());
    try (RpcClient rpc = connect(ConnectionKind.RPC);
        RpcClient peer = connect(ConnectionKind.SERVER)) {
      assertThat(call(rpc, GET_MAP).getClusterMap()).isEqualTo(cluster.map());
      assertThat(call(peer, GET_MAP).getClusterMap()).isEqualTo(cluster.map());
    }
  }

  @Test
  void shouldSayHowTheClusterIs() throws Exception {
    Request ask =
        Request.newBuilder().setGetClusterStatus(GetClusterStatus.getDefaultInstance()).build();
    try (RpcClient rpc = connect(ConnectionKind.RPC)) {
      ClusterStatus status = TestClient.ok(call(rpc, ask)).getClusterStatus();
      assertThat(status.getServer()).isEqualTo(2);
      assertThat(status.getLeader()).isEqualTo(1);
      assertThat(status.getServersCount()).isEqualTo(2);
    }
  }

  @Test
  void shouldNameTheLeaderToWhoWantsASession() throws Exception {
    try (RpcClient rpc = connect(ConnectionKind.RPC)) {
      Request open =
          Request.newBuilder().setOpenSession(OpenSessionRequest.getDefaultInstance()).build();
      Reply reply = call(rpc, open);
      assertThat(reply.getStatus()).isEqualTo(Status.NOT_LEADER);
      assertThat(reply.getMessage()).contains("server 1 at leader:7777 leads it");
    }
  }

  @Test
  void shouldLetAClientWithATicketReachTheData() throws Exception {
    assertThatThrownBy(this::connectData).hasMessageContaining("no session 4d");
    assertThat(call(control, GET_ARENAS).getStatus()).isEqualTo(Status.SESSION_EXPIRED);
    openSession();
    assertThat(call(control, GET_ARENAS).getStatus()).isEqualTo(Status.DISCONNECTED);
    QueuePair data = connectData();
    Reply arenas = TestClient.ok(call(control, GET_ARENAS));
    assertThat(arenas.getArenas().getArenasCount()).isPositive();
    assertThat(data.state()).isEqualTo(QueuePair.State.CONNECTED);
  }

  @Test
  void shouldRefuseATicketThatIsNotOfTheCluster() throws Exception {
    Reply reply = call(control, open(new TestCluster(1, "other").ticket(CLIENT, 1)));
    assertThat(reply.getStatus()).isEqualTo(Status.PERMISSION_DENIED);
    assertThat(reply.getMessage()).contains("ticket of session 4d");
    assertThatThrownBy(this::connectData).hasMessageContaining("no session 4d");
    Reply unnumbered =
        call(
            control,
            Request.newBuilder().setOpenDataSession(OpenDataSession.getDefaultInstance()).build());
    assertThat(unnumbered.getStatus()).isEqualTo(Status.VERSION_MISMATCH);
  }

  /** Its pool is gone, and another server has its address. */
  @Test
  void shouldRefuseClientsThatMeanAnotherServer() throws Exception {
    Reply reply = call(control, open(cluster.ticket(CLIENT, 1), cluster.serverId() + 1));
    assertThat(reply.getStatus()).isEqualTo(Status.DISCONNECTED);
    assertThat(reply.getMessage()).contains("not server " + (cluster.serverId() + 1));
    assertThatThrownBy(this::connectData).hasMessageContaining("no session 4d");
  }

  @Test
  void shouldRefuseWhatHasNoPlaceThere() throws Exception {
    openSession();
    Reply reply = call(control, TestClient.mkdirs("/a"));
    assertThat(reply.getStatus()).isEqualTo(Status.UNSUPPORTED);
    assertThat(reply.getMessage()).contains("MKDIRS").contains("CONTROL");
  }

  @Test
  void shouldEndTheDataConnectionOfAClientThatDoesNotComeBack() throws Exception {
    openSession();
    QueuePair data = connectData();
    control.close();
    awaitUnbound();
    server.pass(5_000);
    assertThat(data.state()).isEqualTo(QueuePair.State.CONNECTED);
    control = connect(ConnectionKind.CONTROL);
    openSession();
    server.pass(30_000);
    assertThat(data.state()).isEqualTo(QueuePair.State.CONNECTED);

    control.close();
    awaitUnbound();
    server.pass(1_300_000);
    await(() -> data.state() != QueuePair.State.CONNECTED);
    assertThatThrownBy(this::connectData).hasMessageContaining("no session 4d");
  }

  private void awaitUnbound() {
    await(() -> !server.server.hasControlConnection(CLIENT));
  }

  /** It was sent while the memory was still the client's, and was on its way since. */
  @Test
  void shouldRefuseAStoreThatComesWhenItsMemoryIsLentAnew() throws Exception {
    openSession();
    LeasedSlab slab = lease().get(0);
    int offset = slab.getIndex() * Layout.SLAB_SIZE + slab.getFirstUnit() * Layout.UNIT_SIZE;
    ProtectionDomain domain = transport.allocateProtectionDomain();
    CompletionQueue completions = transport.createCompletionQueue(16);
    QueuePairConfig config = new QueuePairConfig(domain, completions, completions, 16, 0);
    byte[] hello = ConnectionInfo.ours(Layout.CONNECTION_DATA, CLIENT, 0, 0, 0).pack();
    try (HeldRelay relay = new HeldRelay(server.endpoint());
        MemoryRegion local = domain.allocate(STORED, Access.LOCAL)) {
      QueuePair data = transport.connect(relay.endpoint(), config, hello, TestClient.TIMEOUT_NS);
      RemoteArena arena = TestClient.ok(call(control, GET_ARENAS)).getArenas().getArenas(0);
      store(data, local, arena, offset, 1);
      await(() -> Arrays.equals(server.arenaBytes(offset, STORED), filled(1)));
      relay.hold();
      store(data, local, arena, offset, 2);
      await(relay::isHolding);

      giveBack(slab);
      assertThat(lease()).as("its connection has not ended").isEmpty();
      assertThat(lease()).isEmpty();
      server.zone.connections().sweep();
      LeasedSlab anew = lease().get(0);
      assertThat(anew.getIndex()).isEqualTo(slab.getIndex());
      assertThat(anew.getLease()).isGreaterThan(slab.getLease());
      server.arena().slice(offset, STORED).put(filled(3));
      relay.release();
      await(() -> data.state() != QueuePair.State.CONNECTED);
      assertThat(server.arenaBytes(offset, STORED)).isEqualTo(filled(3));
    }
  }

  private static byte[] filled(int value) {
    byte[] bytes = new byte[STORED];
    Arrays.fill(bytes, (byte) value);
    return bytes;
  }

  private static void store(
      QueuePair data, MemoryRegion local, RemoteArena arena, int offset, int value) {
    local.buffer().put(0, filled(value));
    data.write(
        value,
        new ScatterGather().add(local, 0, STORED),
        arena.getAddress() + offset,
        arena.getRkey(),
        QueuePair.SIGNALED);
    data.ring();
  }

  private Reply ask(Request.Builder request) throws TakoException {
    return TestClient.ok(server.zone.handle(request.build()));
  }

  /** The pool has one slab. */
  private List<LeasedSlab> lease() throws TakoException {
    LeaseSlabs.Builder lease =
        LeaseSlabs.newBuilder().setLeader(LEADER).setCount(1).setRequest(++requests);
    return ask(Request.newBuilder().setLeaseSlabs(lease)).getLeasedSlabs().getSlabsList();
  }

  private void giveBack(LeasedSlab slab) throws TakoException {
    ReturnedSlab.Builder returned =
        ReturnedSlab.newBuilder()
            .setArena(slab.getArena())
            .setIndex(slab.getIndex())
            .setLease(slab.getLease())
            .addGrantees(CLIENT);
    ask(
        Request.newBuilder()
            .setReturnSlabs(ReturnSlabs.newBuilder().setLeader(LEADER).addSlabs(returned)));
  }
}
