package io.takofs.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.takofs.base.TakoException;
import io.takofs.config.ConfigKeys;
import io.takofs.config.TakoConfig;
import io.takofs.layout.Layout;
import io.takofs.proto.Extent;
import io.takofs.proto.Replica;
import io.takofs.proto.ReportReplicas;
import io.takofs.proto.Request.OperationCase;
import io.takofs.proto.Slab;
import io.takofs.proto.Status;
import java.io.IOException;
import java.net.URI;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Files whose bytes are on several servers, some of which fail. */
@Timeout(60)
class ReplicatedFileTest {
  private static final int LENGTH = 700_001;

  /** Memory of the servers, which is not cleared: what was there before is never read. */
  private static final ByteBuffer[] ARENAS = new ByteBuffer[5];

  private final List<FakeDataServer> servers = new ArrayList<>();
  private FakeServer leader;
  private FakeSlabs slabs;
  private TakoClient client;

  @BeforeEach
  void start() throws IOException {
    leader = new FakeServer(4 << 20, 2 * Layout.UNIT_SIZE);
    for (int id = 2; id <= 6; id++) {
      if (ARENAS[id - 2] == null) {
        ARENAS[id - 2] = ByteBuffer.allocateDirect(FakeSlabs.ARENA_SIZE);
      }
      servers.add(new FakeDataServer(id, ARENAS[id - 2]));
    }
    slabs = leader.replicate(3, servers);
    client = connect("2s", "500ms");
  }

  private TakoClient connect(String timeout, String replicaTimeout) throws IOException {
    TakoConfig config = new TakoConfig();
    config.set(ConfigKeys.CLIENT_TIMEOUT.name(), timeout);
    config.set(ConfigKeys.REPLICA_TIMEOUT.name(), replicaTimeout);
    return new TakoClient(URI.create("tako://fake"), config, "alice", leader);
  }

  @AfterEach
  void stop() {
    client.close();
  }

  private static byte[] bytes(int length) {
    byte[] bytes = new byte[length];
    new Random(7).nextBytes(bytes);
    return bytes;
  }

  private void write(String path, byte[] content) throws IOException {
    try (TakoOutputStream out = client.create(path, CreateOptions.DEFAULT)) {
      out.write(content);
    }
  }

  /** An event while a file is written. */
  @FunctionalInterface
  private interface Event {
    void happen(TakoOutputStream out) throws IOException;
  }

  /** Writes a file, and lets something happen after its first 300,000 bytes. */
  private byte[] writeAround(Event event) throws IOException {
    byte[] content = bytes(LENGTH);
    try (TakoOutputStream out = client.create("/f", CreateOptions.DEFAULT)) {
      out.write(content, 0, 300_000);
      event.happen(out);
      out.write(content, 300_000, LENGTH - 300_000);
    }
    return content;
  }

  /** A server that fences a session reaches what the client stores in another one, too. */
  @Test
  void shouldStoreOverConnectionsOfItsPresentSession() throws IOException {
    write("/f", bytes(LENGTH));
    int before = servers.stream().mapToInt(FakeDataServer::hellos).sum();
    assertThat(before).isPositive();
    leader.expireSessions();
    byte[] content = bytes(LENGTH);
    write("/g", content);
    assertThat(servers.stream().mapToInt(FakeDataServer::hellos).sum()).isEqualTo(2 * before);
    assertThat(read("/g")).isEqualTo(content);
  }

  private byte[] read(String path) throws IOException {
    try (TakoInputStream in = client.open(path)) {
      return in.readAllBytes();
    }
  }

  private FakeDataServer server(int id) {
    return servers.get(id - 2);
  }

  /**
   * The file as each of the replicas of its extents on {@code server} has it.
   *
   * @return bytes of it that the server has
   */
  private long assertReplica(String path, int server, byte[] content) {
    long compared = 0;
    for (Extent extent : leader.extents(path)) {
      Slab slab = slabs.slab(extent.getSlab());
      for (Replica replica : slab.getReplicasList()) {
        if (replica.getServer() == server) {
          byte[] there = new byte[extent.getLength()];
          server(server)
              .arena
              .get(replica.getIndex() * Layout.SLAB_SIZE + extent.getOffset(), there);
          int from = (int) extent.getFileOffset();
          assertThat(ByteBuffer.wrap(there))
              .isEqualTo(ByteBuffer.wrap(content, from, extent.getLength()));
          compared += extent.getLength();
        }
      }
    }
    return compared;
  }

  /** All of the file is on each of these servers. */
  private void assertReplicas(String path, byte[] content, int... ids) {
    for (int id : ids) {
      assertThat(assertReplica(path, id, content)).as("at server %d", id).isEqualTo(content.length);
    }
  }

  private boolean isOn(String path, int server) {
    return leader.extents(path).stream()
        .flatMap(extent -> slabs.slab(extent.getSlab()).getReplicasList().stream())
        .anyMatch(replica -> replica.getServer() == server);
  }

  @Test
  void shouldWriteAllReplicasAndReadThemBack() throws IOException {
    byte[] content = bytes(LENGTH);
    write("/f", content);
    assertReplicas("/f", content, 2, 3, 4);
    for (int id = 2; id <= 4; id++) {
      assertThat(server(id).connects()).isEqualTo(1);
      assertThat(server(id).hellos()).isEqualTo(1);
    }
    assertThat(server(5).connects()).isZero();
    assertThat(read("/f")).isEqualTo(content);
    assertThat(leader.executions(OperationCase.GET_CLUSTER_MAP)).isEqualTo(1);
  }

  /** In writes of less than a granule and of more, whose array changes while they are made. */
  @ParameterizedTest
  @ValueSource(ints = {1000, 10_000})
  void shouldStoreTheSameInAllReplicasWhateverBecomesOfAnArray(int length) throws IOException {
    byte[] array = new byte[length];
    AtomicBoolean isWritten = new AtomicBoolean();
    CompletableFuture<Void> changes =
        Background.run(
            () -> {
              for (byte next = 0; !isWritten.get(); next++) {
                Arrays.fill(array, next);
              }
            });
    try (TakoOutputStream out = client.create("/f", CreateOptions.DEFAULT)) {
      for (int i = 0; i < 500; i++) {
        out.write(array);
        out.hflush();
      }
    } finally {
      isWritten.set(true);
    }
    changes.join();
    byte[] content = read("/f");
    assertThat(content).hasSize(500 * length);
    assertReplicas("/f", content, 2, 3);
  }

  @Test
  void shouldAskForAnotherTicketWhenADataServerRefusesIt() throws IOException {
    write("/small", bytes(1)); // opens the session
    slabs.rotateKey();
    byte[] content = bytes(LENGTH);
    write("/f", content);
    assertThat(slabs.reports()).isEmpty();
    assertThat(leader.sessionCount()).isEqualTo(1);
    assertReplicas("/f", content, 2, 3, 4);
    for (int id = 2; id <= 4; id++) {
      assertThat(server(id).hellos()).isEqualTo(1);
    }
    assertThat(read("/f")).isEqualTo(content);
  }

  @Test
  void shouldWriteTheOnlyReplicaAtItsServer() throws IOException {
    slabs = leader.replicate(1, servers);
    byte[] content = bytes(LENGTH);
    write("/f", content);
    assertReplicas("/f", content, 2);
    assertThat(read("/f")).isEqualTo(content);
  }

  @ParameterizedTest
  @ValueSource(ints = {-1, 0}) // before the writer connects, and before it stores the first byte
  void shouldWriteTheOnlyReplicaElsewhereWhenItsServerIsDead(int looks) throws IOException {
    slabs = leader.replicate(1, servers);
    byte[] content = bytes(LENGTH);
    if (looks < 0) {
      server(2).die();
    } else {
      server(2).dieAfter(looks);
    }
    write("/f", content);
    assertReplicas("/f", content, 3);
    assertThat(slabs.reports()).extracting(ReportReplicas.Report::getServer).containsOnly(2);
    assertThat(read("/f")).isEqualTo(content);
  }

  @Test
  void shouldGiveUpWhatItWasGrantedWhereTheOnlyReplicaWasToBe() throws IOException {
    slabs = leader.replicate(1, servers);
    server(2).die();
    server(3).die();
    byte[] content = bytes(LENGTH);
    try (TakoOutputStream out = client.create("/f", CreateOptions.DEFAULT)) {
      for (int i = 0; i < 4; i++) { // it tells the leader when it wants more
        out.write(content);
      }
    }
    List<Extent> givenUp = new ArrayList<>(slabs.unused());
    assertThat(slabs.left()).as("where something may land").isEmpty();
    List<Extent> granted = new ArrayList<>(slabs.grantedOn(2));
    granted.addAll(slabs.grantedOn(3));
    assertThat(givenUp).isNotEmpty().containsExactlyInAnyOrderElementsOf(granted);
  }

  @Test
  void shouldGoOnElsewhereAfterFullExtentsWhoseOnlyReplicaIsAway() throws IOException {
    slabs = leader.replicate(1, servers);
    byte[] content = bytes(LENGTH);
    int full = 2 * 2 * Layout.UNIT_SIZE;
    try (TakoOutputStream out = client.create("/f", CreateOptions.DEFAULT)) {
      out.write(content, 0, full);
      out.hflush();
      server(2).die();
      out.write(content, full, LENGTH - full);
    }
    assertThat(assertReplica("/f", 2, content)).isEqualTo(full);
    assertThat(assertReplica("/f", 3, content)).isEqualTo(LENGTH - full);
    server(2).revive();
    assertThat(read("/f")).isEqualTo(content);
  }

  /** An extent that has bytes of the file, committed or not, is nowhere else. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void shouldWaitForTheOnlyReplicaOfBytesThatAreThere(boolean flushed) throws IOException {
    slabs = leader.replicate(1, servers);
    CompletableFuture<Void> revival =
        Background.run(
            () -> {
              Background.awaitUntil(() -> server(2).refusals() > 0);
              server(2).revive();
            });
    byte[] content =
        writeAround(
            out -> {
              if (flushed) {
                out.hflush();
              }
              server(2).die();
            });
    revival.join();
    assertReplicas("/f", content, 2);
    assertThat(slabs.reports()).isEmpty();
    assertThat(read("/f")).isEqualTo(content);
  }

  /** Wherever the writer is when a replica dies. */
  @ParameterizedTest
  @ValueSource(ints = {0, 1, 2, 3, 5, 10, 40, 100, 150})
  void shouldGoOnWithoutAReplicaThatDies(int looks) throws IOException {
    byte[] content = bytes(LENGTH);
    try (TakoOutputStream out = client.create("/f", CreateOptions.DEFAULT)) {
      out.write(content, 0, 100_000);
      out.hflush();
      server(3).dieAfter(looks);
      for (int at = 100_000; at < LENGTH; ) {
        int count = Math.min(33_333, LENGTH - at);
        out.write(content, at, count);
        at += count;
      }
    }
    assertReplicas("/f", content, 2, 4);
    long third = assertReplica("/f", 5, content) + assertReplica("/f", 6, content);
    assertThat(third).as("bytes of which the third copy is elsewhere").isGreaterThan(0);
    assertThat(read("/f")).isEqualTo(content);
  }

  @Test
  void shouldReportTheReplicaThatDied() throws IOException {
    byte[] content = writeAround(out -> server(3).die());
    assertThat(isOn("/f", 3)).isFalse();
    assertThat(slabs.reports()).extracting(ReportReplicas.Report::getServer).containsOnly(3);
    assertThat(read("/f")).isEqualTo(content);
  }

  /** As when a server fences the writer for what it was granted for another file. */
  @ParameterizedTest
  @ValueSource(ints = {2, 3, 4})
  void shouldGoOnWithAReplicaOfWhichOnlyTheConnectionEnded(int server) throws IOException {
    client.close();
    client = connect("40s", "20s"); // on a busy machine a third of a second may last long
    byte[] content =
        writeAround(
            out -> {
              server(server).die();
              server(server).revive();
              server(server).refuse(70); // for a third of a second
            });
    assertThat(slabs.reports()).isEmpty();
    assertReplicas("/f", content, 2, 3, 4);
    assertThat(read("/f")).isEqualTo(content);
  }

  /** As when a server fences the client for what it was granted as a writer. */
  @Test
  void shouldReadOnWhereOnlyTheConnectionEnded() throws IOException {
    byte[] content = bytes(LENGTH);
    write("/f", content);
    try (TakoInputStream in = client.open("/f")) {
      byte[] read = new byte[LENGTH];
      in.readFully(0, read, 0, LENGTH / 2);
      for (int server : new int[] {2, 3, 4}) {
        server(server).die();
        server(server).revive();
        server(server).refuse(5);
      }
      in.readFully(LENGTH / 2, read, LENGTH / 2, LENGTH - LENGTH / 2);
      assertThat(read).isEqualTo(content);
    }
    assertThat(slabs.reports()).isEmpty();
  }

  @Test
  void shouldGiveUpWhatItWasGrantedWhereAReplicaDied() throws IOException {
    writeAround(out -> server(3).die());
    List<Extent> givenUp = new ArrayList<>(slabs.unused());
    givenUp.addAll(slabs.left());
    assertThat(slabs.left()).isNotEmpty();
    assertThat(givenUp)
        .doesNotHaveDuplicates()
        .containsExactlyInAnyOrderElementsOf(slabs.grantedOn(3));
  }

  @Test
  void shouldGoOnWithoutTwoReplicasThatDie() throws IOException {
    byte[] content = bytes(LENGTH);
    try (TakoOutputStream out = client.create("/f", CreateOptions.DEFAULT)) {
      out.write(content, 0, 300_000);
      server(2).die();
      server(4).die();
      out.write(content, 300_000, 1);
      assertThat(isOnlyOn(3, 5, 6)).isTrue();
      out.write(content, 300_001, LENGTH - 300_001);
    }
    assertThat(read("/f")).isEqualTo(content);
    assertReplicas("/f", content, 3, 5, 6);
  }

  private boolean isOnlyOn(int... ids) throws IOException {
    Extent granted = slabs.grant(1);
    return slabs.slab(granted.getSlab()).getReplicasList().stream()
        .map(Replica::getServer)
        .toList()
        .equals(List.of(ids[0], ids[1], ids[2]));
  }

  /** Servers with room in small pieces only, as after many deletes. */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void shouldMoveLargeExtentsToMoreThanOneCommitTakes(boolean dies) throws IOException {
    leader.grantInUnits(Layout.EXTENT_SIZE_MAX / Layout.UNIT_SIZE);
    byte[] content = bytes(17 << 20);
    int first = 10 << 20;
    try (TakoOutputStream out = client.create("/f", CreateOptions.DEFAULT)) {
      out.write(content, 0, first);
      leader.grantInUnits(1);
      if (dies) {
        server(3).die();
      } else {
        slabs.closeAll();
      }
      out.write(content, first, content.length - first);
      out.hflush();
      assertThat(read("/f")).isEqualTo(content);
    }
    assertThat(read("/f")).isEqualTo(content);
    assertReplicas("/f", content, 2, 4);
  }

  /** The last replica has the only bytes: it is waited for. */
  @Test
  void shouldWaitForTheLastReplica() throws IOException {
    CompletableFuture<Void> revival =
        Background.run(
            () -> {
              Background.awaitUntil(() -> server(4).refusals() > 0);
              server(4).revive();
            });
    byte[] content =
        writeAround(
            out -> {
              server(2).die();
              server(3).die();
              server(4).die();
            });
    revival.join();
    assertThat(read("/f")).isEqualTo(content);
  }

  @Test
  void shouldMoveWhatWasInASlabThatWasClosed() throws IOException {
    byte[] content = bytes(LENGTH);
    try (TakoOutputStream out = client.create("/f", CreateOptions.DEFAULT)) {
      out.write(content, 0, 70_001);
      out.hflush();
      out.write(content, 70_001, 300_000);
      slabs.closeAll();
      out.hflush();
      assertThat(read("/f")).hasSize(370_001);
      out.write(content, 370_001, LENGTH - 370_001);
    }
    assertThat(read("/f")).isEqualTo(content);
    assertReplicas("/f", content, 2, 3, 4);
  }

  /** It has the only bytes, and they can still be read there. */
  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3})
  void shouldMoveWhatOnlyOneReplicaHasOfASlabThatWasClosed(int replicas) throws IOException {
    slabs = leader.replicate(replicas, servers);
    byte[] content = bytes(LENGTH);
    int last = replicas + 1;
    try (TakoOutputStream out = client.create("/f", CreateOptions.DEFAULT)) {
      out.write(content, 0, 70_001);
      out.hflush();
      out.write(content, 70_001, 300_000);
      for (int id = 2; id < last; id++) {
        server(id).die();
      }
      slabs.closeAll();
      server(last).die();
      server(last).revive();
      out.write(content, 370_001, LENGTH - 370_001);
    }
    assertThat(read("/f")).isEqualTo(content);
    assertReplica("/f", last, content);
  }

  @Test
  void shouldNotTakeWrongBytesForThoseThatOnlyOneReplicaHad() throws IOException {
    slabs = leader.replicate(1, servers);
    byte[] content = bytes(LENGTH);
    TakoOutputStream out = client.create("/f", CreateOptions.DEFAULT);
    out.write(content, 0, 100_000);
    out.hflush();
    out.write(content, 100_000, 300_000);
    slabs.closeAll();
    server(2).die();
    for (int at = 0; at < FakeSlabs.ARENA_SIZE; at += Layout.GRANULE_SIZE) {
      server(2).arena.put(at, (byte) (server(2).arena.get(at) ^ 1)); // granted to another
    }
    server(2).revive();
    assertThatThrownBy(() -> out.write(content, 400_000, LENGTH - 400_000))
        .isInstanceOf(TakoException.class)
        .hasMessageContaining("cannot read back")
        .extracting(e -> ((TakoException) e).status())
        .isEqualTo(Status.CORRUPT);
    assertThatThrownBy(out::close).isInstanceOf(TakoException.class);
    assertThat(leader.extents("/f").stream().mapToLong(Extent::getLength).sum()).isEqualTo(100_000);
  }

  @Test
  void shouldSayThatTheLeaseIsLostWhenAnotherFilesBytesAreReadBack() throws IOException {
    byte[] content = bytes(LENGTH);
    TakoOutputStream out = client.create("/f", CreateOptions.DEFAULT);
    out.write(content, 0, 300_000);
    leader.endLease("/f");
    for (int server : List.of(2, 4)) {
      for (int at = 0; at < FakeSlabs.ARENA_SIZE; at += Layout.GRANULE_SIZE) {
        server(server).arena.put(at, (byte) (server(server).arena.get(at) ^ 1));
      }
    }
    server(3).die();
    assertThatThrownBy(() -> out.write(content, 300_000, LENGTH - 300_000))
        .isInstanceOf(TakoException.class)
        .extracting(e -> ((TakoException) e).status())
        .isEqualTo(Status.LEASE_LOST);
    assertThatThrownBy(out::close).isInstanceOf(TakoException.class);
  }

  /** Its extents may be another file's by then. */
  @ParameterizedTest
  @ValueSource(ints = {2, 3, 4})
  void shouldNotStoreOverANewConnectionWhatWasGrantedInASlabThatWasClosed(int server)
      throws IOException {
    byte[] content = bytes(LENGTH);
    try (TakoOutputStream out = client.create("/f", CreateOptions.DEFAULT)) {
      out.write(content, 0, 300_000);
      out.hflush();
      Extent last = leader.extents("/f").get(leader.extents("/f").size() - 1);
      slabs.closeAll();
      server(server).die();
      server(server).revive();
      int at = slabs.slab(last.getSlab()).getReplicas(server - 2).getIndex() * Layout.SLAB_SIZE;
      int end = at + last.getOffset() + last.getLength();
      for (int i = 0; i < 1000; i++) {
        server(server).arena.put(end + i, (byte) 99);
      }
      out.write(content, 300_000, LENGTH - 300_000);
      for (int i = 0; i < 1000; i++) {
        assertThat(server(server).arena.get(end + i)).isEqualTo((byte) 99);
      }
    }
    assertThat(slabs.reports()).isEmpty();
    assertThat(read("/f")).isEqualTo(content);
  }

  @ParameterizedTest
  @ValueSource(ints = {2, 3, 4})
  void shouldReadFromAnotherReplica(int dead) throws IOException {
    byte[] content = bytes(LENGTH);
    write("/f", content);
    try (TakoInputStream in = client.open("/f")) {
      assertThat(in.readNBytes(1000)).isEqualTo(Arrays.copyOf(content, 1000));
      server(dead).die();
      in.seek(0);
      assertThat(in.readAllBytes()).isEqualTo(content);
    }
    server(2).die();
    server(3).die();
    if (dead != 4) {
      assertThat(read("/f")).isEqualTo(content);
    }
  }

  /** The connections of a former session end when those of the next are made. */
  @ParameterizedTest
  @ValueSource(ints = {0, 1, 2, 3, 4, 5, 6, 7, 8})
  void shouldReportNoServerWhoseFormerConnectionEnds(int looks) throws IOException {
    AtomicBoolean isDone = new AtomicBoolean();
    readWithoutReport(
        looks,
        server -> {
          if (isDone.compareAndSet(false, true)) {
            leader.expireSessions();
            assertThatCode(() -> write("/g", bytes(LENGTH))).doesNotThrowAnyException();
          }
        });
  }

  /** Lets something happen at each server while a file is read, which nobody may report. */
  private void readWithoutReport(int looks, Consumer<FakeDataServer> event) throws IOException {
    byte[] content = bytes(LENGTH);
    write("/f", content);
    AtomicInteger events = new AtomicInteger();
    try (TakoInputStream in = client.open("/f")) {
      for (FakeDataServer each : servers) {
        each.after(
            looks,
            () -> {
              events.incrementAndGet();
              event.accept(each);
            });
      }
      assertThat(in.readAllBytes()).isEqualTo(content);
    }
    assertThat(events).hasPositiveValue();
    assertThat(slabs.reports()).isEmpty();
  }

  /** As when a former session's connection ends before there is one of the next. */
  @ParameterizedTest
  @ValueSource(ints = {0, 1, 2, 3, 4, 5, 6, 7, 8})
  void shouldConnectAnewBeforeItReportsAServer(int looks) throws IOException {
    readWithoutReport(
        looks,
        server -> {
          server.die();
          server.revive();
        });
  }

  @Test
  void shouldWaitOnceForASilentReplicaHoweverManyRead() throws Exception {
    slabs.putClientsNear(2);
    byte[] content = bytes(LENGTH);
    write("/f", content);
    server(2).die();
    server(2).revive();
    CountDownLatch silence = new CountDownLatch(1);
    server(2).beSilent(silence);
    List<FutureTask<byte[]>> reads = new ArrayList<>();
    List<Thread> readers = new ArrayList<>();
    for (int i = 0; i < 20; i++) {
      FutureTask<byte[]> read = new FutureTask<>(() -> read("/f"));
      reads.add(read);
      Thread reader = new Thread(read);
      reader.setDaemon(true);
      reader.start();
      readers.add(reader);
    }
    Background.awaitUntil(() -> readers.stream().allMatch(ReplicatedFileTest::waits));
    silence.countDown();
    for (FutureTask<byte[]> read : reads) {
      assertThat(read.get(20, TimeUnit.SECONDS)).isEqualTo(content);
    }
    assertThat(server(2).silences()).isEqualTo(1);
  }

  private static boolean waits(Thread thread) {
    return switch (thread.getState()) {
      case WAITING, TIMED_WAITING -> true;
      default -> false;
    };
  }

  @ParameterizedTest
  @ValueSource(ints = {2, 3})
  void shouldReadWhatHasReplicasOnAServerThatWasRemoved(int near) throws IOException {
    slabs.putClientsNear(near);
    byte[] content = bytes(LENGTH);
    write("/f", content);
    server(3).die();
    slabs.remove(3);
    assertThat(read("/f")).isEqualTo(content);
    assertThat(leader.executions(OperationCase.GET_CLUSTER_MAP)).isEqualTo(2);
  }

  @Test
  void shouldReadFromAnotherReplicaWhenBytesAreWrong() throws IOException {
    byte[] content = bytes(LENGTH);
    write("/f", content);
    List<Extent> extents = leader.extents("/f");
    assertThat(extents).as("some of which are read from 2 or 4 first").hasSizeGreaterThan(4);
    for (Extent extent : extents) {
      damage(extent, 2);
      damage(extent, 4);
    }
    assertThat(read("/f")).isEqualTo(content);
    assertThat(slabs.reports()).isNotEmpty().allMatch(ReportReplicas.Report::getWrongBytes);
    assertThat(slabs.reports()).noneMatch(report -> report.getServer() == 3);
    damage(3);
    assertThatThrownBy(() -> read("/f"))
        .isInstanceOf(TakoException.class)
        .hasMessageContaining("/f")
        .hasMessageContaining("data2:7420, data3:7420, data4:7420")
        .extracting(e -> ((TakoException) e).status())
        .isEqualTo(Status.CORRUPT);
  }

  @Test
  void shouldAskAReplicaThatHadWrongBytesAgainWhenNoOtherAnswers() throws IOException {
    byte[] content = bytes(LENGTH);
    write("/f", content);
    damage(2);
    damage(4);
    server(3).die();
    CompletableFuture<Void> mending =
        Background.run(
            () -> {
              Background.awaitUntil(() -> leader.executions(OperationCase.REPORT_REPLICAS) >= 3);
              damage(2); // the bit is right again
            });
    assertThat(read("/f")).isEqualTo(content);
    mending.join();
    assertThat(slabs.reports())
        .filteredOn(ReportReplicas.Report::getWrongBytes)
        .extracting(ReportReplicas.Report::getServer)
        .containsExactlyInAnyOrder(2, 4);
  }

  @Test
  void shouldGoOnWhereTheChecksumsOfSomeReplicasAreWrong() throws IOException {
    byte[] content = bytes(5 * Layout.GRANULE_SIZE);
    byte[] more = bytes(3 * Layout.GRANULE_SIZE);
    int kept = 2 * Layout.GRANULE_SIZE + 100;
    byte[] whole = Arrays.copyOf(content, content.length + more.length);
    System.arraycopy(more, 0, whole, content.length, more.length);
    for (int intact = 2; intact <= 4; intact++) { // so that others are asked first twice
      String path = "/f" + intact;
      write(path, content);
      damageChecksums(path, intact);
      try (TakoOutputStream out = client.append(path)) {
        out.write(more);
      }
      assertThat(read(path)).isEqualTo(whole);
      client.truncate(path, kept);
      assertThat(read(path)).isEqualTo(Arrays.copyOf(content, kept));
    }
    assertThat(slabs.reports()).isNotEmpty().allMatch(ReportReplicas.Report::getWrongBytes);
  }

  /** Flips a bit of the first extent's first checksum, at all servers but one. */
  private void damageChecksums(String path, int intact) {
    Extent extent = leader.extents(path).get(0);
    for (Replica replica : slabs.slab(extent.getSlab()).getReplicasList()) {
      if (replica.getServer() != intact) {
        int offset = replica.getIndex() * Layout.SLAB_SIZE + extent.getOffset();
        int at = offset / Layout.GRANULE_SIZE * Integer.BYTES;
        ByteBuffer arena = server(replica.getServer()).arena;
        arena.put(at, (byte) (arena.get(at) ^ 1));
      }
    }
  }

  /** Flips a bit of the first extent, as server {@code id} has it. */
  private void damage(int id) {
    damage(leader.extents("/f").get(0), id);
  }

  private void damage(Extent extent, int id) {
    Replica replica =
        slabs.slab(extent.getSlab()).getReplicasList().stream()
            .filter(each -> each.getServer() == id)
            .findFirst()
            .orElseThrow();
    int at = replica.getIndex() * Layout.SLAB_SIZE + extent.getOffset() + 5000;
    ByteBuffer arena = server(id).arena;
    arena.put(at, (byte) (arena.get(at) ^ 1));
  }

  @Test
  void shouldFailInTimeWhenNoReplicaIsThere() throws IOException {
    write("/f", bytes(LENGTH));
    servers.forEach(FakeDataServer::die);
    assertThatThrownBy(() -> read("/f"))
        .isInstanceOfSatisfying(
            TakoException.class,
            e -> assertThat(e.status()).isIn(Status.DISCONNECTED, Status.UNAVAILABLE))
        .hasMessageContaining("/f")
        .hasMessageContaining(
            "the bytes from 0 on, in the block at 0, on data2:7420, data3:7420, data4:7420");
  }

  @Test
  void shouldNameTheServersOfEachBlockByBytesHeld() throws IOException {
    writeAround(
        out -> {
          out.hflush();
          server(3).die();
        });
    assertThat(client.isAlone()).isFalse();
    List<BlockPlaces> blocks = client.blockPlaces("/f", 1, LENGTH, 400_000);
    assertThat(blocks).extracting(BlockPlaces::offset).containsExactly(0L, 400_000L);
    assertThat(blocks).extracting(BlockPlaces::length).containsExactly(400_000L, 300_001L);
    assertThat(blocks).extracting(BlockPlaces::copies).containsExactly(3, 3);
    assertThat(blocks.get(0).hosts())
        .extracting(BlockPlaces.Host::host)
        .containsExactly("data2", "data4", "data3", "data5");
    assertThat(blocks.get(1).hosts())
        .extracting(BlockPlaces.Host::host)
        .containsExactly("data2", "data4", "data5");
    assertThat(blocks).noneMatch(BlockPlaces::inMetadata);
    assertThat(client.blockPlaces("/f", 400_000, 1, 400_000)).hasSize(1);
  }

  @Test
  void shouldContinueTheLastExtentOnAllReplicas() throws IOException {
    byte[] content = bytes(LENGTH);
    write("/f", Arrays.copyOf(content, 100_001));
    try (TakoOutputStream out = client.append("/f")) {
      out.write(content, 100_001, LENGTH - 100_001);
    }
    assertReplicas("/f", content, 2, 3, 4);
    assertThat(read("/f")).isEqualTo(content);
  }
}
