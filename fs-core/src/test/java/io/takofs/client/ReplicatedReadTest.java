package io.takofs.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.takofs.base.TakoException;
import io.takofs.layout.Layout;
import io.takofs.proto.Extent;
import io.takofs.proto.Replica;
import io.takofs.proto.ReportReplicas;
import io.takofs.proto.Request.OperationCase;
import io.takofs.proto.Status;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Files that are read from several servers, some of which fail or have wrong bytes. */
@Timeout(60)
class ReplicatedReadTest extends ReplicatedFileFixture {
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
    client.close();
    client = connect("50s", "40s"); // on a busy machine it may take long until all of them wait
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
    try {
      Background.awaitUntil(() -> readers.stream().allMatch(ReplicatedReadTest::waits));
    } finally {
      silence.countDown(); // the client waits for whom it connects when it closes
    }
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
}
