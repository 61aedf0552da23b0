package io.takofs.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.takofs.base.TakoException;
import io.takofs.client.internal.zone.ServedArena;
import io.takofs.layout.Layout;
import io.takofs.proto.Extent;
import io.takofs.proto.Replica;
import io.takofs.proto.ReportReplicas;
import io.takofs.proto.Request.OperationCase;
import io.takofs.proto.Status;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Files that are written to several servers, some of which fail. */
@Timeout(60)
class ReplicatedWriteTest extends ReplicatedFileFixture {
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

  /** A writer by transfers uses its buffers again; one that could not be sent is not placed. */
  @Test
  void shouldSendAgainWhatCouldNotBeSentToTheOnlyReplica() throws IOException {
    try (ServedArena arena = new ServedArena(FakeSlabs.ARENA_SIZE)) {
      servers.set(0, new FakeDataServer(2, arena));
      slabs = leader.replicate(1, servers);
      leader.grantInUnits(1);
      CompletableFuture<Void> revival =
          Background.run(
              () -> {
                Background.awaitUntil(() -> server(2).refusals() > 0);
                server(2).revive();
              });
      byte[] content = bytes(LENGTH);
      int first = 10 * Layout.UNIT_SIZE;
      try (TakoOutputStream out = client.create("/f", CreateOptions.DEFAULT)) {
        out.write(content, 0, first); // more extents than there are buffers
        server(2).die();
        out.write(content, first, LENGTH - first);
      }
      revival.join();
      assertReplicas("/f", content, 2);
      assertThat(read("/f")).isEqualTo(content);
      client.close(); // before the arena that its connections are to
    }
  }

  /** The bytes are inline, or on their way to an extent, when the connection ends. */
  @ParameterizedTest
  @ValueSource(ints = {17, 28, 29, 30, 31, 32, 33, 34, 40})
  void shouldKeepEveryFlushOfAFewBytesWhenConnectionsEnd(int flushes) throws IOException {
    try (ServedArena arena = new ServedArena(FakeSlabs.ARENA_SIZE)) {
      servers.set(0, new FakeDataServer(2, arena));
      slabs = leader.replicate(1, servers);
      byte[] content = bytes(60 * 128);
      try (TakoOutputStream out = client.create("/f", CreateOptions.DEFAULT)) {
        for (int i = 0; i < 60; i++) {
          out.write(content, i * 128, 128);
          out.hflush();
          assertThat(read("/f")).isEqualTo(Arrays.copyOf(content, (i + 1) * 128));
          if (i == flushes) {
            server(2).die();
            server(2).revive();
          }
        }
      }
      assertThat(read("/f")).isEqualTo(content);
      client.close(); // before the arena that its connections are to
    }
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
