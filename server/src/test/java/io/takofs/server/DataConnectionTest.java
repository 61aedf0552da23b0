package io.takofs.server;

import static io.takofs.server.TestClient.ok;
import static io.takofs.server.TestServer.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.takofs.layout.Layout;
import io.takofs.proto.Delete;
import io.takofs.proto.Request;
import io.takofs.proto.Status;
import io.takofs.rpc.ConnectionInfo;
import io.takofs.transport.QueuePair;
import java.lang.reflect.Proxy;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(120)
class DataConnectionTest {
  @TempDir Path directory;

  private TestServer server;

  @BeforeEach
  void start() throws Exception {
    server = new TestServer(directory.resolve("pool"), new ManualClock());
  }

  @AfterEach
  void stop() {
    server.close();
  }

  @Test
  void shouldFreeWhatWasTakenFromAClientThatGoesOnWithOtherFiles() throws Exception {
    try (TestClient writer = new TestClient(server, TestServer.SUPERUSER);
        TestClient other = new TestClient(server, TestServer.SUPERUSER)) {
      QueuePair first = writer.connectData();
      long free = other.status().getUsage().getFree();
      ok(writer.call(TestClient.create("/f", 65536)));
      ok(other.call(Request.newBuilder().setDelete(Delete.newBuilder().setPath("/f")).build()));
      server.pass(70_000);
      await(() -> first.state() != QueuePair.State.CONNECTED);
      QueuePair second = writer.connectData();
      server.pass(1_000);
      assertThat(other.status().getUsage().getFree()).isEqualTo(free);
      assertThat(second.state()).isEqualTo(QueuePair.State.CONNECTED);
    }
  }

  @Test
  void shouldEndAClientsEarlierDataConnectionBeforeItsNextOneStands() throws Exception {
    try (TestClient writer = new TestClient(server, TestServer.SUPERUSER);
        TestClient other = new TestClient(server, TestServer.SUPERUSER)) {
      QueuePair first = writer.connectData();
      QueuePair others = other.connectData();
      QueuePair second = writer.connectData();
      await(() -> first.state() != QueuePair.State.CONNECTED);
      assertThat(second.state()).isEqualTo(QueuePair.State.CONNECTED);
      assertThat(others.state()).isEqualTo(QueuePair.State.CONNECTED);
    }
  }

  @Test
  void shouldRefuseADataConnectionWhileAnEarlierOneIsNotReleased() throws Exception {
    AtomicBoolean released = new AtomicBoolean();
    try (TestClient hoarder = new TestClient(server, "mallory");
        TestClient other = new TestClient(server, "alice")) {
      long clientId = hoarder.session.getClientId();
      server
          .server
          .dataHandler()
          .onDataConnected(
              server.transport,
              ConnectionInfo.ours(Layout.CONNECTION_DATA, clientId, 0, 0, 0),
              pairThatIsRevokedWhen(released),
              server.server.dataHandler().admitDataConnection(server.transport, clientId));
      assertThatThrownBy(hoarder::connectData)
          .hasMessageContaining("earlier connection")
          .hasFieldOrPropertyWithValue("status", Status.BUSY);
      assertThat(other.connectData().state()).isEqualTo(QueuePair.State.CONNECTED);

      released.set(true);
      assertThat(hoarder.connectData().state()).isEqualTo(QueuePair.State.CONNECTED);
    }
  }

  private static QueuePair pairThatIsRevokedWhen(AtomicBoolean released) {
    return (QueuePair)
        Proxy.newProxyInstance(
            QueuePair.class.getClassLoader(),
            new Class<?>[] {QueuePair.class},
            (pair, method, arguments) ->
                switch (method.getName()) {
                  case "revoke" -> released.get();
                  case "hashCode" -> System.identityHashCode(pair);
                  case "equals" -> pair == arguments[0];
                  default -> null;
                });
  }

  @Test
  void shouldNotReuseAnExtentBeforeItsGranteeIsFenced() throws Exception {
    try (TestClient writer = new TestClient(server, TestServer.SUPERUSER);
        TestClient other = new TestClient(server, TestServer.SUPERUSER)) {
      QueuePair data = writer.connectData();
      long free = other.status().getUsage().getFree();
      ok(writer.call(TestClient.create("/f", 65536)));
      ok(other.call(Request.newBuilder().setDelete(Delete.newBuilder().setPath("/f")).build()));
      server.pass(30_000);
      assertThat(other.status().getUsage().getFree()).isLessThan(free);
      assertThat(data.state()).isEqualTo(QueuePair.State.CONNECTED);
      // Patience ends: the writer is cut off, and the extent is free.
      server.pass(40_000);
      await(() -> data.state() != QueuePair.State.CONNECTED);
      server.pass(1_000);
      assertThat(other.status().getUsage().getFree()).isEqualTo(free);
    }
  }
}
