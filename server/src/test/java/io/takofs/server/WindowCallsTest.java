package io.takofs.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.takofs.base.Clock;
import io.takofs.base.TakoException;
import io.takofs.layout.Layout;
import io.takofs.proto.Leadership;
import io.takofs.proto.LeaseSlabs;
import io.takofs.proto.LeasedSlab;
import io.takofs.proto.OpenDataSession;
import io.takofs.proto.OpenWindows;
import io.takofs.proto.OpenedWindows;
import io.takofs.proto.Reply;
import io.takofs.proto.Request;
import io.takofs.proto.Status;
import io.takofs.rpc.ConnectionInfo;
import io.takofs.rpc.ConnectionKind;
import io.takofs.rpc.RpcClient;
import io.takofs.rpc.RpcTarget;
import io.takofs.server.zone.FakeDevice;
import io.takofs.transport.CompletionStatus;
import io.takofs.transport.tcp.TcpSettings;
import io.takofs.transport.tcp.TcpTransport;
import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * A server that leads nothing, and clients that prove their grants to it; a test plays its device.
 */
@Timeout(120)
class WindowCallsTest {
  private static final long CLIENT = 77;
  private static final int SELF = 2;

  @TempDir Path directory;

  private final TestCluster cluster = new TestCluster(SELF, "secret");
  private final TcpTransport transport = new TcpTransport(TcpSettings.DEFAULT);
  private final FakeDevice device = new FakeDevice();
  private TestServer server;
  private RpcClient control;
  private LeasedSlab slab;
  private FakeDevice.Pair pair;

  @BeforeEach
  void start() throws Exception {
    server = TestServer.inCluster(directory.resolve("pool"), new ManualClock(), cluster, false);
    server.server.serve(device, acceptor -> null);
    RpcTarget target = new RpcTarget(ConnectionKind.CONTROL, server.endpoint(), "test", CLIENT);
    control = RpcClient.connect(transport, target, TestClient.TIMEOUT_NS, Clock.SYSTEM);
    TestClient.ok(
        call(
            Request.newBuilder()
                .setOpenDataSession(
                    OpenDataSession.newBuilder()
                        .setProtocolVersion(Layout.PROTOCOL_VERSION)
                        .setLayoutHash(Layout.LAYOUT_HASH)
                        .setClientId(CLIENT)
                        .setTicket(cluster.ticket(CLIENT, 1))
                        .setServer(cluster.serverId()))));
    Leadership leader = Leadership.newBuilder().setGroup(1).setTerm(1).build();
    LeaseSlabs.Builder lease = LeaseSlabs.newBuilder().setLeader(leader).setCount(1).setRequest(1);
    slab =
        TestClient.ok(server.zone.handle(Request.newBuilder().setLeaseSlabs(lease).build()))
            .getLeasedSlabs()
            .getSlabs(0);
  }

  @AfterEach
  void stop() {
    control.close();
    transport.close();
    server.close();
  }

  private Reply call(Request.Builder request) throws TakoException {
    return control.call(CLIENT, 0, request.build(), System.nanoTime() + TestClient.TIMEOUT_NS);
  }

  private void connectData() throws IOException {
    pair =
        FakeDevice.newPair(
            posted -> {
              CompletableFuture<Void> unused = CompletableFuture.runAsync(this::completeAll);
            });
    DataConnectionHandler handler = server.server.dataHandler();
    handler.onDataConnected(
        device,
        ConnectionInfo.ours(Layout.CONNECTION_DATA, CLIENT, 0, 64, 64),
        pair.pair(),
        handler.admitDataConnection(device, CLIENT));
  }

  private void completeAll() {
    for (Long id = pair.posted().poll(); id != null; id = pair.posted().poll()) {
      server.server.dataHandler().onDataCompletion(pair.pair(), id, CompletionStatus.SUCCESS);
    }
  }

  private OpenWindows.Window window(int unit) {
    return OpenWindows.Window.newBuilder()
        .setArena(slab.getArena())
        .setOffset(slab.getIndex() * Layout.SLAB_SIZE + unit * Layout.UNIT_SIZE)
        .setCapacity(Layout.UNIT_SIZE)
        .setGrant(9)
        .setLease(slab.getLease())
        .build();
  }

  private static OpenWindows.Window proved(
      OpenWindows.Window window, TestCluster prover, long client, int server) {
    return window.toBuilder()
        .setAuthenticator(prover.proof(window, client, server).getAuthenticator())
        .build();
  }

  private OpenWindows.Window proved(OpenWindows.Window window) {
    return proved(window, cluster, CLIENT, SELF);
  }

  private Reply ask(OpenWindows.Window... windows) throws TakoException {
    OpenWindows.Builder open = OpenWindows.newBuilder().setFileId(5);
    for (OpenWindows.Window window : windows) {
      open.addWindows(window);
    }
    return call(Request.newBuilder().setOpenWindows(open));
  }

  private void assertRefused(OpenWindows.Window window, String why) throws TakoException {
    OpenedWindows opened = TestClient.ok(ask(window)).getOpenedWindows();
    assertThat(opened.getWindows(0).getRkey()).isZero();
    assertThat(opened.getRefusal()).contains(why);
  }

  @Test
  void shouldGiveKeysForProofs() throws Exception {
    Reply unconnected = ask(proved(window(1)));
    assertThat(unconnected.getStatus()).isEqualTo(Status.DISCONNECTED);
    connectData();
    OpenedWindows opened =
        TestClient.ok(ask(proved(window(1)), proved(window(2)))).getOpenedWindows();
    assertThat(opened.getRefusal()).isEmpty();
    assertThat(opened.getWindowsList())
        .hasSize(2)
        .allSatisfy(
            keys -> {
              assertThat(keys.getRkey()).isNotZero();
              assertThat(keys.getChecksumsRkey()).isNotZero();
            });
    assertThat(TestClient.ok(ask(proved(window(1)))).getOpenedWindows().getWindows(0))
        .as("the same again")
        .isEqualTo(opened.getWindows(0));
  }

  @Test
  void shouldRefuseWhatTheLeaderDidNotProve() throws Exception {
    connectData();
    String why = "of client 4d is not of this cluster";
    assertRefused(window(1), why);
    assertRefused(proved(window(1), new TestCluster(1, "other"), CLIENT, SELF), why);
    assertRefused(proved(window(1), cluster, CLIENT + 1, SELF), why);
    assertRefused(proved(window(1), cluster, CLIENT, SELF + 1), why);
    assertRefused(proved(window(1)).toBuilder().setGrant(10).build(), why);
    assertRefused(proved(window(1)).toBuilder().setOffset(window(2).getOffset()).build(), why);
    assertRefused(proved(window(1)).toBuilder().setLease(slab.getLease() + 1).build(), why);
  }

  @Test
  void shouldRefuseWhatHasEndedAndOpenTheOthers() throws Exception {
    connectData();
    OpenWindows.Window late = window(1).toBuilder().setLease(slab.getLease() + 1).build();
    OpenedWindows opened = TestClient.ok(ask(proved(late), proved(window(2)))).getOpenedWindows();
    assertThat(opened.getWindows(0).getRkey()).isZero();
    assertThat(opened.getWindows(1).getRkey()).isNotZero();
    assertThat(opened.getRefusal()).contains("grant 9 of client 4d has ended here");
    assertRefused(proved(window(1).toBuilder().setOffset(77).build()), "no slab of this server");
    assertRefused(proved(window(1).toBuilder().setCapacity(-1).build()), "no slab of this server");
  }

  @Test
  void shouldSayThatTheDeviceHasNoWindow() throws Exception {
    connectData();
    device.outOfWindows = true;
    assertRefused(proved(window(1)), "no window left");
    device.outOfWindows = false;
    OpenedWindows opened = TestClient.ok(ask(proved(window(1)))).getOpenedWindows();
    assertThat(opened.getWindows(0).getRkey()).isNotZero();
  }
}
