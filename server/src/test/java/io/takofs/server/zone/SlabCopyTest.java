package io.takofs.server.zone;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.takofs.base.TakoException;
import io.takofs.layout.Layout;
import io.takofs.memory.MappedMemory;
import io.takofs.proto.CopyExtents;
import io.takofs.proto.CopyFailure;
import io.takofs.proto.CopyProgress;
import io.takofs.proto.Extent;
import io.takofs.proto.LeasedSlab;
import io.takofs.proto.Status;
import java.nio.file.Files;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Extents are pulled from other servers, verified and stored. */
class SlabCopyTest extends SlabCopyRig {
  @Test
  void shouldTryAgainWhatEndedWithAnError() throws Exception {
    MappedMemory source = arena(2);
    Extent extent = written(source, 3, UNIT, UNIT);
    servers.put(
        2,
        server -> {
          throw new IllegalStateException("a fault in the program");
        });
    ask(request(List.of(extent), 2));
    assertThatThrownBy(copy::step).isInstanceOf(IllegalStateException.class);
    CopyProgress failed = ask(request(List.of(extent), 2));
    assertThat(failed.getFailedList()).hasSize(1);
    assertThat(failed.getFailed(0).getReason()).contains("error");
    local(2, source);
    ask(request(List.of(extent), 2));
    steps();
    assertThat(ask(request(List.of(extent), 2)).getDoneList()).containsExactly(0);
    assertCopied(source, List.of(extent));
  }

  @Test
  void shouldTellWhenNoSourceHasTheBytesAndTryAgainWhenAsked() throws Exception {
    MappedMemory source = arena(2);
    List<Extent> extents = List.of(written(source, 20, UNIT, 5000));
    ask(request(extents, 2, 3));
    steps();
    CopyProgress progress = ask(request(extents, 2, 3));
    assertThat(progress.getDoneCount()).isZero();
    assertThat(progress.getFailedList())
        .extracting(CopyFailure::getSource)
        .containsExactly(2, 3, 0);
    assertThat(progress.getFailed(0).getReason()).contains("server 2 is gone");
    local(3, source);
    assertThat(ask(request(extents, 2, 3))).isEqualTo(CopyProgress.getDefaultInstance());
    steps();
    assertThat(ask(request(extents, 2, 3)).getDoneList()).containsExactly(0);
    assertCopied(source, extents);
  }

  @Test
  void shouldTryNoOtherSourceWhenItIsToStop() throws Exception {
    MappedMemory source = arena(3);
    local(3, source);
    servers.put(
        2,
        id -> {
          copy.stop();
          throw new TakoException(Status.UNAVAILABLE, "silent");
        });
    Extent extent = written(source, 16, UNIT, UNIT);
    ask(request(List.of(extent), 2, 3));
    steps();
    assertThat(connects).containsOnly(2);
  }

  @Test
  void shouldFindEveryFlippedBitAtTheSource() throws Exception {
    MappedMemory source = arena(2);
    local(2, source);
    Extent extent = written(source, 20, UNIT, 3 * Layout.GRANULE_SIZE + 100);
    long at = (long) Layout.SLAB_SIZE + extent.getOffset();
    long entries = at / Layout.GRANULE_SIZE * Integer.BYTES;
    List<Long> places =
        List.of(
            at,
            at + 4095,
            at + 2L * Layout.GRANULE_SIZE,
            at + extent.getLength() - 1,
            entries,
            entries + 11);
    byte[] before = WrittenExtents.bytes(target, slab.getIndex(), extent);
    for (long place : places) {
      flip(source, place);
      ask(request(List.of(extent), 2));
      steps();
      CopyProgress progress = ask(request(List.of(extent), 2));
      assertThat(progress.getDoneCount()).isZero();
      assertThat(progress.getFailed(0).getWrongBytes()).isTrue();
      assertThat(progress.getFailed(0).getSource()).isEqualTo(2);
      assertThat(WrittenExtents.bytes(target, slab.getIndex(), extent))
          .as("nothing is stored")
          .isEqualTo(before);
      flip(source, place);
    }
    flip(source, at + extent.getLength()); // not of the record
    ask(request(List.of(extent), 2));
    steps();
    assertThat(ask(request(List.of(extent), 2)).getDoneList()).containsExactly(0);
    assertCopied(source, List.of(extent));
  }

  @Test
  void shouldReadNothingThatIsThereAlready() throws Exception {
    MappedMemory source = arena(2);
    local(2, source);
    List<Extent> extents = manyExtents(source);
    ask(request(extents, 2));
    steps();
    clock.advance(Duration.ofNanos(OpenSources.IDLE_NS));
    steps(); // so that a read connects
    connects.clear();
    assertThat(ask(request(extents, 2)).getDoneCount()).isEqualTo(extents.size());
    CopyExtents.Builder again = request(extents, 2).setAttempt(6);
    assertThat(ask(again).getDoneCount()).isZero();
    steps();
    assertThat(ask(again).getDoneCount()).isEqualTo(extents.size());
    assertThat(connects).isEmpty();
    flip(target, slab.getIndex() * (long) Layout.SLAB_SIZE + extents.get(4).getOffset() + 9);
    again.setAttempt(7);
    ask(again);
    steps();
    assertThat(ask(again).getDoneCount()).isEqualTo(extents.size());
    assertThat(connects).containsExactly(2);
    assertCopied(source, extents);

    assertThat(ask(request(extents, 2)).getFailedCount())
        .as("of an earlier attempt")
        .isEqualTo(extents.size());
  }

  @Test
  void shouldForgetSlabsThatWereFilledLongAgo() throws Exception {
    close();
    Files.delete(directory.resolve("target"));
    open((SlabCopy.FILLS_MAX + 2L) * Layout.SLAB_SIZE);
    MappedMemory source = arena(2);
    local(2, source);
    Extent extent = written(source, 16, UNIT, UNIT);
    LeasedSlab first = slab;
    for (int i = 0; i <= SlabCopy.FILLS_MAX; i++) {
      slab = i == 0 ? first : lease();
      ask(request(List.of(extent), 2));
      steps();
      assertThat(ask(request(List.of(extent), 2)).getDoneList()).containsExactly(0);
    }
    assertThat(ask(request(List.of(extent), 2)).getDoneList()).containsExactly(0);
    slab = first;
    assertThat(ask(request(List.of(extent), 2)).getDoneCount())
        .as("it is looked at again")
        .isZero();
    steps();
    assertThat(ask(request(List.of(extent), 2)).getDoneList()).containsExactly(0);
  }

  @Test
  void shouldStoreNothingOnceTheLeaseIsOver() throws Exception {
    MappedMemory source = arena(2);
    Extent extent = written(source, 20, UNIT, UNIT);
    local(2, source);
    SlabSources real = servers.get(2);
    servers.put(
        2,
        id -> {
          SlabSource reads = real.open(id);
          return new SlabSource() {
            @Override
            public Bytes read(int arena, int offset, int length) throws TakoException {
              giveBack(slab); // while the bytes are on their way
              slab = lease();
              return reads.read(arena, offset, length);
            }

            @Override
            public void close() {}
          };
        });
    byte[] before = WrittenExtents.bytes(target, slab.getIndex(), extent);
    CopyExtents.Builder late = request(List.of(extent), 2);
    ask(late);
    int index = slab.getIndex();
    steps();
    assertThat(slab.getIndex()).as("the same slab, leased anew").isEqualTo(index);
    assertThat(WrittenExtents.bytes(target, index, extent)).isEqualTo(before);
    CopyProgress progress = ask(late);
    assertThat(progress.getDoneCount()).isZero();
    assertThat(progress.getFailed(0).getReason()).contains("not leased");
  }

  @Test
  void shouldNotLendASlabWhileACopyIsBeingStoredThere() throws Exception {
    SlabTable table = HeapSlabs.table(List.of(ARENA));
    table.hear(1, 1);
    table.lease(1, 1, 1, 1);
    long lease = table.lease(0);
    SlabTable.Units units = new SlabTable.Units(16, 1);
    assertThat(table.beginStore(0, 1, lease + 1, units, 0)).isFalse();
    assertThat(table.beginStore(0, 1, lease, units, 0)).isTrue();
    table.giveBack(0, 1, lease);
    assertThat(table.free(0)).isFalse();
    table.endStore(0);
    assertThat(table.free(0)).isTrue();
    assertThat(table.beginStore(0, 1, lease, units, 0)).isFalse();
  }

  @Test
  void shouldKeepToTheLimitOfBytesASecond() throws Exception {
    MappedMemory source = arena(2);
    local(2, source);
    List<Extent> extents =
        List.of(
            written(source, 16, 1 << 20, 1 << 20),
            written(source, 32, 1 << 20, 1 << 20),
            written(source, 48, 1 << 20, 1 << 20));
    CopyExtents.Builder request = request(extents, 2).setBytesPerSecond(1 << 20);
    ask(request);
    assertThat(copy.step()).isZero();
    assertThat(copy.step()).isEqualTo(1_000_000_000);
    clock.advance(Duration.ofNanos(999_999_999));
    assertThat(copy.step()).isEqualTo(1);
    assertThat(ask(request).getDoneCount()).isEqualTo(1);
    clock.advance(Duration.ofNanos(1));
    assertThat(copy.step()).isZero();
    assertThat(ask(request).getDoneCount()).isEqualTo(2);
    assertThat(copy.step()).isEqualTo(1_000_000_000);
    clock.advance(Duration.ofSeconds(5));
    assertThat(copy.step()).isZero();
    assertThat(copy.step()).isEqualTo(OpenSources.IDLE_NS);
  }

  @Test
  void shouldKeepConnectionsWhileTheLeaderGoesOnAsking() throws Exception {
    MappedMemory source = arena(2);
    local(2, source);
    for (int i = 0; i < 3; i++) {
      List<Extent> extents = List.of(written(source, 16 + i, Layout.UNIT_SIZE, 4096));
      ask(request(extents, 2));
      steps();
      assertThat(ask(request(extents, 2)).getDoneCount()).isEqualTo(1);
      clock.advance(Duration.ofNanos(OpenSources.IDLE_NS - 1));
      assertThat(copy.step()).isEqualTo(1);
    }
    assertThat(connects).containsExactly(2);
  }

  @Test
  void shouldTakeNoMoreThanItsQueueHolds() throws Exception {
    List<Extent> extents = new ArrayList<>();
    for (int i = 0; i < SlabCopy.QUEUE_MAX + 10; i++) {
      extents.add(
          Extent.newBuilder()
              .setOffset((16 + i % 200) * UNIT)
              .setCapacity(UNIT)
              .setLength(1)
              .setGeneration(i)
              .build());
    }
    ask(request(extents));
    assertThat(copy.queued()).isEqualTo(SlabCopy.QUEUE_MAX);
    steps();
    assertThat(copy.queued()).isZero();
  }

  @Test
  void shouldRefuseExtentsThatNoSlabHas() throws Exception {
    MappedMemory source = arena(2);
    Extent extent = written(source, 20, UNIT, 5000);
    for (Extent wrong :
        List.of(
            extent.toBuilder().setOffset(0).build(),
            extent.toBuilder().setOffset(-UNIT).build(),
            extent.toBuilder().setOffset(Layout.SLAB_SIZE).build(),
            extent.toBuilder().setCapacity(0).build(),
            extent.toBuilder().setLength(0).build(),
            extent.toBuilder().setLength(UNIT + 1).build())) {
      assertThat(reply(request(List.of(wrong), 2)).getStatus())
          .as(wrong.toString())
          .isEqualTo(Status.INVALID_ARGUMENT);
    }
  }

  @Test
  void shouldVerifyAnewWhatIsAskedForWithoutSources() throws Exception {
    MappedMemory source = arena(2);
    local(2, source);
    List<Extent> extents = manyExtents(source);
    ask(request(extents, 2));
    steps();
    assertThat(ask(request(extents, 2)).getDoneCount()).isEqualTo(extents.size());
    connects.clear();
    CopyExtents.Builder verify = request(extents);
    assertThat(ask(verify).getDoneCount()).as("it was copied, and not looked at since").isZero();
    steps();
    CopyProgress good = ask(verify);
    assertThat(good.getDoneCount()).isEqualTo(extents.size());
    assertThat(good.getFailedCount()).isZero();
    flip(target, slab.getIndex() * (long) Layout.SLAB_SIZE + extents.get(4).getOffset() + 9);
    byte[] wrong = WrittenExtents.bytes(target, slab.getIndex(), extents.get(4));
    assertThat(ask(verify).getDoneCount()).as("it was told once").isZero();
    steps();
    CopyProgress bad = ask(verify);
    assertThat(bad.getDoneCount()).isEqualTo(extents.size() - 1);
    assertThat(bad.getFailedList()).hasSize(1);
    assertThat(bad.getFailed(0).getIndex()).isEqualTo(4);
    assertThat(bad.getFailed(0).getWrongBytes()).isTrue();
    assertThat(connects).isEmpty();
    assertThat(WrittenExtents.bytes(target, slab.getIndex(), extents.get(4))).isEqualTo(wrong);
    giveBack(slab);
    steps();
    CopyProgress gone = ask(verify);
    assertThat(gone.getDoneCount()).isZero();
    assertThat(gone.getFailedList()).isNotEmpty().noneMatch(CopyFailure::getWrongBytes);
  }

  @Test
  void shouldVerifyWithinTheLimit() throws Exception {
    MappedMemory source = arena(2);
    local(2, source);
    List<Extent> extents =
        List.of(written(source, 16, 1 << 20, 1 << 20), written(source, 32, 1 << 20, 1 << 20));
    ask(request(extents, 2));
    steps();
    ask(request(extents).setBytesPerSecond(1 << 20));
    assertThat(copy.step()).isZero();
    assertThat(copy.step()).isEqualTo(1_000_000_000);
  }

  /** The offsets that a source was told of and asked for. */
  private static final class Asked implements SlabSource {
    private final SlabSource source;
    final List<Integer> told = new ArrayList<>();
    final List<Integer> read = new ArrayList<>();
    int untold;
    boolean forgot;

    Asked(SlabSource source) {
      this.source = source;
    }

    @Override
    public void prefetch(int arena, int offset, int length) {
      if (!told.contains(offset)) {
        told.add(offset);
      }
    }

    @Override
    public void forget() {
      forgot = true;
    }

    @Override
    public Bytes read(int arena, int offset, int length) throws TakoException {
      untold += told.contains(offset) ? 0 : 1;
      read.add(offset);
      assertThat(told.size() - read.size()).isLessThan(RemoteSlabSource.PIECES);
      return source.read(arena, offset, length);
    }

    @Override
    public void close() {}
  }

  private Asked asked(int server, MappedMemory arena) throws TakoException {
    local(server, arena);
    Asked asked = new Asked(servers.get(server).open(server));
    servers.put(server, id -> asked);
    return asked;
  }

  @Test
  void shouldTellTheSourceWhatIsReadNext() throws Exception {
    MappedMemory source = arena(2);
    List<Extent> extents = manyExtents(source);
    Asked asked = asked(2, source);
    ask(request(extents, 2));
    copy.step();
    copy.step();
    assertThat(asked.read).hasSize(2);
    assertThat(asked.told).hasSize(RemoteSlabSource.PIECES);
    steps();
    assertThat(ask(request(extents, 2)).getDoneCount()).isEqualTo(extents.size());
    assertThat(asked.read).hasSize(extents.size());
    assertThat(asked.untold).as("the first, by which it connects").isEqualTo(1);
    assertCopied(source, extents);
  }

  @Test
  void shouldForgetWhatWasToReadNextWhenTheAttemptIsOver() throws Exception {
    MappedMemory source = arena(2);
    List<Extent> extents = manyExtents(source);
    Asked asked = asked(2, source);
    ask(request(extents, 2));
    copy.step();
    copy.step();
    assertThat(asked.told).hasSize(RemoteSlabSource.PIECES);
    assertThat(asked.forgot).isFalse();
    giveBack(slab);
    steps();
    assertThat(asked.told).as("nothing more is asked for").hasSize(RemoteSlabSource.PIECES);
    assertThat(asked.read).hasSize(2);
    assertThat(asked.forgot).isTrue();
  }

  @Test
  void shouldEndAConnectionThatRestsThoughOthersAreUsed() throws Exception {
    List<Integer> closed = new ArrayList<>();
    List<MappedMemory> arenas = List.of(arena(2), arena(3));
    for (int server = 2; server <= 3; server++) {
      local(server, arenas.get(server - 2));
      closing(server, closed);
    }
    int unit = 16;
    for (int server : new int[] {2, 3, 3}) {
      assertThat(closed).isEmpty();
      Extent extent = written(arenas.get(server - 2), unit++, UNIT, UNIT);
      ask(request(List.of(extent), server));
      assertThat(copy.step()).isZero();
      clock.advance(Duration.ofNanos(OpenSources.IDLE_NS - 1));
    }
    assertThat(closed).containsExactly(2);
    assertThat(connects).containsExactly(2, 3);
  }

  @Test
  void shouldReadNothingAheadWithinALimit() throws Exception {
    MappedMemory source = arena(2);
    List<Extent> extents = manyExtents(source);
    Asked asked = asked(2, source);
    ask(request(extents, 2).setBytesPerSecond(1 << 20));
    copy.step();
    clock.advance(Duration.ofSeconds(1));
    copy.step();
    assertThat(asked.read).hasSize(2);
    assertThat(asked.told).containsExactly(asked.read.get(1));
  }

  /** Connections to {@code server} say when they are closed. */
  private void closing(int server, List<Integer> closed) throws TakoException {
    SlabSource reads = servers.get(server).open(server);
    servers.put(
        server,
        any ->
            new SlabSource() {
              @Override
              public Bytes read(int arena, int offset, int length) throws TakoException {
                return reads.read(arena, offset, length);
              }

              @Override
              public void close() {
                closed.add(server);
              }
            });
  }

  @Test
  void shouldEndTheConnectionThatRestedLongestWhenThereAreMany() throws Exception {
    List<Integer> closed = new ArrayList<>();
    for (int server = 2; server < 3 + OpenSources.MAX; server++) {
      MappedMemory source = arena(server);
      Extent extent = written(source, 16 + server, UNIT, UNIT);
      local(server, source);
      closing(server, closed);
      ask(request(List.of(extent), server));
      assertThat(copy.step()).isZero();
    }
    assertThat(closed).containsExactly(2);
    clock.advance(Duration.ofNanos(OpenSources.IDLE_NS));
    assertThat(copy.step()).isEqualTo(Long.MAX_VALUE);
    assertThat(closed).as("an idle server has none").hasSize(1 + OpenSources.MAX);
  }
}
