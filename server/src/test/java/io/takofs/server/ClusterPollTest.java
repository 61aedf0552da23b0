package io.takofs.server;

import static io.takofs.server.TestServer.await;
import static org.assertj.core.api.Assertions.assertThat;

import io.takofs.base.Clock;
import io.takofs.proto.ClusterStatus;
import io.takofs.proto.GetClusterStatus;
import io.takofs.proto.Reply;
import io.takofs.proto.Request;
import io.takofs.proto.ServerHealth;
import io.takofs.proto.ServerStatus;
import io.takofs.server.peer.PeerServers;
import io.takofs.server.report.ClusterReport;
import io.takofs.transport.tcp.TcpSettings;
import io.takofs.transport.tcp.TcpTransport;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A leader and a data server ask each other how they are. */
@Timeout(120)
class ClusterPollTest {
  private static final ServerStatus OWN = ServerStatus.newBuilder().setVersion("own").build();

  @TempDir Path directory;

  private final ManualClock clock = new ManualClock();
  private final TestCluster cluster = new TestCluster(1, "secret");
  private final ClusterReport report = new ClusterReport(cluster, clock);
  private final TcpTransport transport = new TcpTransport(TcpSettings.DEFAULT);

  @AfterEach
  void stop() {
    transport.close();
  }

  private ServerHealth second(ClusterPoll poll) {
    poll.tick();
    ClusterStatus status = report.build(OWN);
    assertThat(status.getServersCount()).isEqualTo(2);
    assertThat(status.getServers(0).getEntry().getVersion()).isEqualTo("own");
    return status.getServers(1);
  }

  @Test
  void shouldAnswerAClient() throws Exception {
    Request ask =
        Request.newBuilder().setGetClusterStatus(GetClusterStatus.getDefaultInstance()).build();
    try (TestServer server = new TestServer(directory.resolve("pool"), clock);
        TestClient client = new TestClient(server, TestServer.SUPERUSER)) {
      ClusterStatus alone = TestClient.ok(client.call(ask)).getClusterStatus();
      assertThat(alone.getServersCount()).isEqualTo(1);
      assertThat(alone.getLeader()).isEqualTo(1);
      assertThat(alone.getServers(0).getUsage().getCapacity()).isPositive();
      assertThat(alone.getSlabsList()).isEmpty();
      TestClient.ok(client.call(TestClient.create("/file", 1)));
      ClusterStatus later = TestClient.ok(client.call(ask)).getClusterStatus();
      assertThat(later.getSlabsList()).as("slabs, at the same time").isNotEmpty();
    }
  }

  @Test
  void shouldKnowHowAServerIsUntilItIsSilent() throws Exception {
    TestServer server =
        TestServer.inCluster(
            directory.resolve("pool"), new ManualClock(), new TestCluster(2, "secret"), false);
    cluster.move(server.endpoint());
    try (PeerServers peers =
        new PeerServers(cluster, request -> Reply.getDefaultInstance(), transport, Clock.SYSTEM)) {
      ClusterPoll poll =
          new ClusterPoll(cluster, peers, report, clock, ClusterStatus::getDefaultInstance);
      assertThat(second(poll).getHeard()).isFalse();
      await(() -> second(poll).getHeard());
      assertThat(second(poll).getUsage().getCapacity()).isPositive();
      assertThat(second(poll).getTrouble()).isEmpty();
      server.close();
      clock.advanceMillis(TimeUnit.SECONDS.toMillis(4));
      await(() -> second(poll).getTrouble().contains("server 2 at 127.0.0.1"));
      clock.advanceMillis(TimeUnit.SECONDS.toMillis(8));
      await(() -> second(poll).getTrouble().startsWith("silent for 00:00:12: server 2"));
      assertThat(second(poll).getUsage().getCapacity()).isPositive();
    }
  }

  /** It would acknowledge what no other server ever hears of. */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void shouldNotGoOnOnceACopyOfItsPoolHasItsPlace(boolean leads) throws Exception {
    AtomicBoolean replaced = new AtomicBoolean();
    TestCluster place =
        new TestCluster(leads ? 1 : 2, "secret") {
          @Override
          public boolean isReplaced() {
            return replaced.get();
          }

          @Override
          public Optional<String> refusal() {
            return Optional.of("two servers have the same pool");
          }
        };
    try (TestServer server =
        TestServer.inCluster(directory.resolve("pool"), new ManualClock(), place, leads)) {
      assertThat(server.server.tick().failure()).isNull();
      replaced.set(true);
      assertThat(server.server.tick().failure()).contains("two servers have the same pool");
    }
  }
}
