package io.takofs.server;

import static io.takofs.server.TestServer.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.takofs.base.Clock;
import io.takofs.base.TakoException;
import io.takofs.layout.Layout;
import io.takofs.proto.CopyExtents;
import io.takofs.proto.CopyProgress;
import io.takofs.proto.Extent;
import io.takofs.proto.Leadership;
import io.takofs.proto.LeaseSlabs;
import io.takofs.proto.LeasedSlab;
import io.takofs.proto.Reply;
import io.takofs.proto.Request;
import io.takofs.proto.Status;
import io.takofs.server.extent.Slabs;
import io.takofs.server.peer.PeerServers;
import io.takofs.server.zone.SlabCopyThread;
import io.takofs.server.zone.WrittenExtents;
import io.takofs.transport.tcp.TcpSettings;
import io.takofs.transport.tcp.TcpTransport;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A server pulls extents of a slab from another one, over connections that it makes itself. */
@Timeout(120)
class SlabPullTest {
  private static final int UNIT = Layout.UNIT_SIZE;
  private static final Leadership LEADER = Leadership.newBuilder().setGroup(1).setTerm(1).build();

  @TempDir Path directory;

  private final TestCluster cluster = new TestCluster(1, "secret");
  private final TcpTransport transport = new TcpTransport(TcpSettings.DEFAULT);
  private final Random random = new Random(7);
  private TestServer source;
  private TestServer target;
  private PeerServers peers;
  private LeasedSlab from;
  private LeasedSlab to;

  @BeforeEach
  void start() throws Exception {
    source = start("source", new TestCluster(2, "secret"));
    target = start("target", cluster);
    cluster.move(source.endpoint());
    peers = new PeerServers(cluster, target.zone::handle, transport, Clock.SYSTEM);
    from = lease(2);
    to = lease(1);
  }

  private TestServer start(String name, TestCluster known) throws Exception {
    return TestServer.inCluster(directory.resolve(name), new ManualClock(), known, false);
  }

  @AfterEach
  void stop() {
    peers.close();
    transport.close();
    target.close();
    source.close();
  }

  private PeerSlabSources sources(TestCluster known) {
    return new PeerSlabSources(
        known,
        (endpoint, timeoutNs, attempt) -> attempt.connect(transport, endpoint, timeoutNs),
        Clock.SYSTEM);
  }

  private Reply ask(int server, Request request) {
    List<Reply> answers = new ArrayList<>();
    peers.call(server, request, answers::add);
    await(
        () -> {
          peers.deliver();
          return !answers.isEmpty();
        });
    assertThat(answers.get(0).getStatus()).as(answers.get(0).getMessage()).isEqualTo(Status.OK);
    return answers.get(0);
  }

  private LeasedSlab lease(int server) {
    LeaseSlabs lease = LeaseSlabs.newBuilder().setLeader(LEADER).setCount(1).setRequest(1).build();
    Request request = Request.newBuilder().setLeaseSlabs(lease).build();
    return ask(server, request).getLeasedSlabs().getSlabs(0);
  }

  private CopyProgress copy(List<Extent> extents) {
    CopyExtents copy =
        CopyExtents.newBuilder()
            .setLeader(LEADER)
            .setAttempt(1)
            .setTarget(Slabs.replica(1, to))
            .addSources(Slabs.replica(2, from))
            .addAllExtents(extents)
            .build();
    return ask(1, Request.newBuilder().setCopyExtents(copy).build()).getCopyProgress();
  }

  /** Random bytes at the source, as a client would have written them, and their record. */
  private Extent written(int unit, int length) {
    byte[] bytes = new byte[length];
    random.nextBytes(bytes);
    return WrittenExtents.write(source.arena(), from.getIndex(), unit, bytes);
  }

  @Test
  void shouldPullTheExtentsOfASlab() {
    List<Extent> extents =
        List.of(written(2, 700_000), written(20, UNIT - 4000), written(21, 1), written(22, UNIT));
    SlabCopyThread thread =
        new SlabCopyThread(target.zone.copyFrom(sources(cluster), Clock.SYSTEM));
    try {
      await(() -> copy(extents).getDoneCount() == extents.size());
    } finally {
      thread.close();
    }
    for (Extent extent : extents) {
      assertThat(WrittenExtents.bytes(target.arena(), to.getIndex(), extent))
          .isEqualTo(WrittenExtents.bytes(source.arena(), from.getIndex(), extent));
      assertThat(WrittenExtents.entries(target.arena(), to.getIndex(), extent))
          .isEqualTo(WrittenExtents.entries(source.arena(), from.getIndex(), extent));
    }
  }

  @Test
  void shouldConnectOnceMoreAndSayWhenNobodyIsThere() throws Exception {
    PeerSlabSources sources = sources(cluster);
    Extent extent = written(16, UNIT);
    int at = from.getIndex() * Layout.SLAB_SIZE + extent.getOffset();
    sources.open(2).close();
    try (var again = sources.open(2)) {
      byte[] read = new byte[UNIT];
      again.read(from.getArena(), at, UNIT).data().get(read);
      assertThat(read).isEqualTo(WrittenExtents.bytes(source.arena(), from.getIndex(), extent));
    }
    source.close();
    assertThatThrownBy(() -> sources.open(2)).isInstanceOf(TakoException.class);
    assertThatThrownBy(() -> sources.open(9)).hasMessageContaining("has no server 9");
  }

  @Test
  void shouldNotLetAServerWithAnotherKeyRead() {
    TestCluster stranger = new TestCluster(1, "other");
    stranger.move(source.endpoint());
    assertThatThrownBy(() -> sources(stranger).open(2))
        .isInstanceOfSatisfying(
            TakoException.class, e -> assertThat(e.status()).isEqualTo(Status.PERMISSION_DENIED));
  }
}
