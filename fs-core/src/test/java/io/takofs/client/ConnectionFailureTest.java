package io.takofs.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.takofs.base.Clock;
import io.takofs.base.TakoException;
import io.takofs.client.internal.session.Connector;
import io.takofs.client.internal.session.ServerConnection;
import io.takofs.client.internal.zone.DataZone;
import io.takofs.client.internal.zone.MemoryBudget;
import io.takofs.config.TakoConfig;
import io.takofs.proto.Reply;
import io.takofs.proto.Request;
import io.takofs.proto.Request.OperationCase;
import io.takofs.proto.SessionTerms;
import io.takofs.proto.Status;
import io.takofs.transport.TransportCounters;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A client whose connections cannot be made for want of memory, of files, of anything. */
@Timeout(60)
class ConnectionFailureTest {
  private final FakeServer server = new FakeServer(4 << 20, 65536);
  private final AtomicInteger failures = new AtomicInteger();
  private final AtomicInteger zoneFailures = new AtomicInteger();
  private volatile Supplier<Throwable> failure = () -> new OutOfMemoryError("for a test");
  private TakoClient client;

  @BeforeEach
  void connect() throws TakoException {
    TakoConfig config =
        new TakoConfig()
            .set("fs.tako.client.timeout", "5s")
            .set("fs.tako.client.backoff.min", "1ms");
    client = new TakoClient(URI.create("tako://fake:1"), config, "alice", new FailingConnector());
  }

  @AfterEach
  void close() {
    client.close();
  }

  private static <T extends Throwable> void fail(AtomicInteger left, Throwable with) throws T {
    if (left.getAndUpdate(count -> Math.max(0, count - 1)) > 0) {
      @SuppressWarnings("unchecked")
      T thrown = (T) with;
      throw thrown;
    }
  }

  private final class FailingConnector implements Connector {
    @Override
    public ServerConnection connect(long clientId, long deadlineNs) throws IOException {
      ConnectionFailureTest.<RuntimeException>fail(failures, failure.get());
      return new FailingConnection(server.connect(clientId, deadlineNs));
    }

    @Override
    public ServerConnection connectData(String other, long clientId, long deadlineNs)
        throws IOException {
      return server.connectData(other, clientId, deadlineNs);
    }

    @Override
    public ServerConnection connectToAsk(String other, long deadlineNs) throws IOException {
      return server.connectToAsk(other, deadlineNs);
    }

    @Override
    public void redirect(String leader) {
      server.redirect(leader);
    }

    @Override
    public String server() {
      return server.server();
    }

    @Override
    public void rest() {
      server.rest();
    }

    @Override
    public MemoryBudget budget() {
      return server.budget();
    }

    @Override
    public Map<String, TransportCounters> counters() {
      return server.counters();
    }

    @Override
    public void close() {
      server.close();
    }
  }

  private final class FailingConnection implements ServerConnection {
    private final ServerConnection connection;

    FailingConnection(ServerConnection connection) {
      this.connection = connection;
    }

    @Override
    public Reply call(long clientId, long sequence, Request request, long deadlineNs)
        throws TakoException {
      return connection.call(clientId, sequence, request, deadlineNs);
    }

    @Override
    public boolean isOpen() {
      return connection.isOpen();
    }

    @Override
    public String transportVerdict() {
      return connection.transportVerdict();
    }

    @Override
    public DataZone openZone(SessionTerms terms, long deadlineNs) throws TakoException {
      ConnectionFailureTest.<RuntimeException>fail(zoneFailures, failure.get());
      return connection.openZone(terms, deadlineNs);
    }

    @Override
    public void leave() {
      connection.leave();
    }

    @Override
    public void close() {
      connection.close();
    }
  }

  @Test
  void shouldRenewLeasesAfterAnError() throws IOException {
    try (TakoOutputStream out = client.create("/f", CreateOptions.DEFAULT)) {
      out.write(1);
      out.hflush();
      failures.set(2);
      server.disconnectAll();
      Background.awaitUntil(() -> failures.get() == 0);
      int before = server.executions(OperationCase.RENEW_LEASES);
      Background.awaitUntil(() -> server.executions(OperationCase.RENEW_LEASES) >= before + 2);
    }
  }

  @Test
  void shouldReleaseAbandonedLeasesAfterAnError() throws IOException {
    write("/f", 5000);
    zoneFailures.set(1);
    server.disconnectAll();
    assertThatThrownBy(() -> client.append("/f").write(new byte[70_000]))
        .isInstanceOf(OutOfMemoryError.class);
    Background.awaitUntil(() -> !server.isOpenForWriting("/f"));
    client.append("/f").close();
  }

  @Test
  void shouldConnectAgainWhenThereWereNoResources() throws IOException {
    failure = () -> new UncheckedIOException(new IOException("No space left on device"));
    client.mkdirs("/a");
    failures.set(3);
    server.disconnectAll();
    client.mkdirs("/b");
    assertThat(server.executions(OperationCase.MKDIRS)).isEqualTo(2);
  }

  @Test
  void shouldSayWhatIsMissingWhenItStaysSo() {
    failure = () -> new UncheckedIOException(new IOException("No space left on device"));
    failures.set(Integer.MAX_VALUE);
    assertThatThrownBy(() -> client.mkdirs("/a"))
        .isInstanceOf(TakoException.class)
        .hasMessageContaining("No space left on device")
        .matches(e -> ((TakoException) e).status() == Status.UNAVAILABLE);
    failures.set(0);
  }

  @Test
  void shouldReachTheDataZoneAgainWhenThereWereNoResources() throws IOException {
    write("/f", 5000);
    failure = () -> new UncheckedIOException(new IOException("No space left on device"));
    zoneFailures.set(3);
    server.disconnectAll();
    try (TakoInputStream in = client.open("/f")) {
      assertThat(in.readAllBytes()).hasSize(5000);
    }
    assertThat(zoneFailures).hasValue(0);
  }

  /** Hadoop asks for it before each file: the wait for a server that is gone would be twice. */
  @Test
  void shouldKnowTheDefaultReplicationWhileTheServerIsGone() throws Exception {
    client.mkdirs("/d");
    failure = () -> new UncheckedIOException(new IOException("gone"));
    failures.set(Integer.MAX_VALUE);
    server.disconnectAll();
    assertThat(client.defaultReplication()).isEqualTo(FakeServer.REPLICATION);
    assertThat(failures).as("it has not tried to connect").hasValue(Integer.MAX_VALUE);
    failures.set(0);
  }

  @Test
  void shouldHaveNoThreadWithoutAConnection() throws Exception {
    List<Thread> threads = new CopyOnWriteArrayList<>();
    TakoConfig config = new TakoConfig().set("fs.tako.client.idle.timeout", "1s");
    try (TakoClient idle =
        new TakoClient(
            URI.create("tako://fake:1"),
            config,
            "bob",
            server,
            Clock.SYSTEM,
            work -> {
              threads.add(new Thread(work));
              return threads.get(threads.size() - 1);
            })) {
      for (int i = 1; i <= 2; i++) {
        assertThat(idle.isConnected()).isFalse();
        idle.mkdirs("/" + i);
        assertThat(idle.isConnected()).isTrue();
        assertThat(threads).hasSize(i);
        Background.awaitUntil(() -> threads.stream().noneMatch(Thread::isAlive));
      }
    }
  }

  private void write(String path, int length) throws IOException {
    try (TakoOutputStream out = client.create(path, CreateOptions.DEFAULT)) {
      out.write(new byte[length]);
    }
  }
}
