package io.takofs.server;

import static io.takofs.server.TestClient.ok;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.takofs.layout.Layout;
import io.takofs.proto.Delete;
import io.takofs.proto.GrantExtents;
import io.takofs.proto.OpenedFile;
import io.takofs.proto.RenewLeases;
import io.takofs.proto.Reply;
import io.takofs.proto.Request;
import io.takofs.proto.Status;
import io.takofs.rpc.ConnectionInfo;
import io.takofs.server.zone.FakeDevice;
import io.takofs.transport.CompletionStatus;
import io.takofs.transport.Transport;
import java.nio.file.Path;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A server with a device that a test plays, beside tcp for its clients' calls. */
@Timeout(120)
class FakeDeviceServerTest {
  @TempDir Path directory;

  private final ManualClock clock = new ManualClock();
  private TestServer server;

  @BeforeEach
  void start() throws Exception {
    server = new TestServer(directory.resolve("pool"), clock);
  }

  @AfterEach
  void stop() {
    server.close();
  }

  private static boolean hasThread(String name) {
    return Thread.getAllStackTraces().keySet().stream()
        .anyMatch(thread -> thread.getName().equals(name));
  }

  @Test
  void shouldLeaveNothingOfATransportThatCannotListen() {
    FakeDevice device = new FakeDevice();
    AtomicBoolean hadThread = new AtomicBoolean();
    assertThatThrownBy(
            () ->
                server.server.serve(
                    device,
                    acceptor -> {
                      hadThread.set(hasThread("tako-rpc-fake"));
                      return device.listen("", acceptor);
                    }))
        .hasMessageContaining("nobody can listen");
    assertThat(hadThread).isTrue();
    assertThat(hasThread("tako-rpc-fake")).isFalse();
    assertThat(device.domains).hasValue(0);
    assertThat(device.regions).hasValue(0);
  }

  @Test
  void shouldNotAskADeviceForItsCountersWhileOthersWait() throws Exception {
    AtomicBoolean asked = new AtomicBoolean();
    AtomicBoolean blocked = new AtomicBoolean();
    FakeDevice device =
        new FakeDevice(
            () -> {
              CompletableFuture<Long> tick =
                  CompletableFuture.supplyAsync(() -> server.server.tick().pauseNs());
              asked.set(true);
              if (tick.completeOnTimeout(-1L, 10, TimeUnit.SECONDS).join() < 0) {
                blocked.set(true);
              }
              return Map.of("rnr", 3L);
            });
    server.server.serve(device, acceptor -> null);
    try (TestClient client = new TestClient(server, TestServer.SUPERUSER)) {
      assertThat(client.status().getTransportsList())
          .anySatisfy(
              transport -> assertThat(transport.getCountersMap()).containsEntry("device.rnr", 3L));
      assertThat(asked).isTrue();
      assertThat(blocked).isFalse();
    }
  }

  @Test
  void shouldLetAWriterWaitForSpaceThatIsBeingFreed() throws Exception {
    FakeDevice device = new FakeDevice();
    server.server.serve(device, acceptor -> null);
    try (TestClient holder = new TestClient(server, TestServer.SUPERUSER);
        TestClient other = new TestClient(server, TestServer.SUPERUSER)) {
      Writer writer = new Writer(device, holder.session.getClientId());
      for (int file = 0; holder.call(grant(holder, "/f" + file)).getStatus() == Status.OK; file++) {
        assertThat(file).isLessThan(1000);
      }
      writer.holding.set(true);
      ok(other.call(Request.newBuilder().setDelete(Delete.newBuilder().setPath("/f0")).build()));
      Request wanted = grant(other, "/mine");
      Reply refusal = other.call(wanted);
      assertThat(refusal.getStatus()).as(refusal.getMessage()).isEqualTo(Status.UNAVAILABLE);

      writer.release();
      Reply granted = other.call(wanted);
      assertThat(granted.getStatus()).as(granted.getMessage()).isEqualTo(Status.OK);
      // Nothing is on its way any more.
      Status last = Status.OK;
      for (int file = 0; last == Status.OK; file++) {
        last = other.call(grant(other, "/mine" + file)).getStatus();
      }
      assertThat(last).isEqualTo(Status.NO_SPACE);
    }
  }

  @Test
  void shouldAnswerAChangeThatWasMadeThoughThereIsNoWindow() throws Exception {
    FakeDevice device = new FakeDevice();
    server.server.serve(device, acceptor -> null);
    try (TestClient client = new TestClient(server, TestServer.SUPERUSER)) {
      Writer writer = new Writer(device, client.session.getClientId());
      device.outOfWindows = true;
      // UNAVAILABLE would let the client send it again, under a next session a second time.
      OpenedFile file = ok(client.call(TestClient.create("/f", 1))).getOpenedFile();
      assertThat(file.getGrants(0).getRkey()).isZero();

      RenewLeases.Builder lease =
          RenewLeases.newBuilder()
              .setFileId(file.getFile().getId())
              .setLeaseEpoch(file.getLeaseEpoch());
      Request renewal = Request.newBuilder().setRenewLeases(lease).build();
      Reply refused = client.call(renewal);
      assertThat(refused.getStatus()).isEqualTo(Status.UNAVAILABLE);
      assertThat(refused.getMessage()).contains("no window left");

      device.outOfWindows = false;
      assertThat(ok(client.call(renewal)).getGrants().getExtents(0).getRkey()).isNotZero();
      writer.release();
    }
  }

  private static Request grant(TestClient client, String path) throws Exception {
    OpenedFile file = ok(client.call(TestClient.create(path, 0))).getOpenedFile();
    GrantExtents.Builder grant =
        GrantExtents.newBuilder()
            .setFileId(file.getFile().getId())
            .setLeaseEpoch(file.getLeaseEpoch())
            .setBytes(64 << 20);
    return Request.newBuilder().setGrantExtents(grant).build();
  }

  /** A client's connection to the data zone; what is posted to it is done soon, or when told. */
  private final class Writer {
    final AtomicBoolean holding = new AtomicBoolean();
    private final FakeDevice.Pair pair = FakeDevice.newPair(this::rung);

    Writer(Transport device, long clientId) throws Exception {
      server
          .server
          .dataHandler()
          .onDataConnected(
              device,
              ConnectionInfo.ours(Layout.CONNECTION_DATA, clientId, 0, 64, 64),
              pair.pair(),
              server.server.dataHandler().admitDataConnection(device, clientId));
    }

    private void rung(Queue<Long> posted) {
      if (!holding.get()) {
        CompletableFuture<Void> unused = CompletableFuture.runAsync(this::completeAll);
      }
    }

    private void completeAll() {
      for (Long id = pair.posted().poll(); id != null; id = pair.posted().poll()) {
        server.server.dataHandler().onDataCompletion(pair.pair(), id, CompletionStatus.SUCCESS);
      }
    }

    void release() {
      holding.set(false);
      completeAll();
    }
  }
}
