package io.takofs.server.zone;

import static org.assertj.core.api.Assertions.assertThat;

import io.takofs.layout.Layout;
import io.takofs.memory.MappedMemory;
import io.takofs.proto.CopyExtents;
import io.takofs.proto.CopyProgress;
import io.takofs.proto.Extent;
import io.takofs.proto.FenceExtents;
import io.takofs.proto.FencedExtent;
import io.takofs.proto.Replica;
import io.takofs.proto.Request;
import io.takofs.proto.Status;
import io.takofs.server.extent.Grant;
import io.takofs.server.extent.Slabs;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Extents move from a slab of other servers to another one here, under grants of the copier. */
class MoveCopyTest extends SlabCopyRig {
  private static final long GRANT = 70;

  /** The same bytes at another unit, under a grant. */
  private static Extent at(int unit, long grant, Extent from) {
    return from.toBuilder().setOffset(unit * UNIT).setGrant(grant).setGeneration(grant).build();
  }

  private CopyExtents.Builder move(Extent from, Extent to, int... sources) {
    return request(List.of(to), sources)
        .setAttempt(to.getGrant())
        .addSourceOffsets(from.getOffset());
  }

  private void assertMoved(MappedMemory source, Extent from, Extent to) {
    assertThat(WrittenExtents.bytes(target, slab.getIndex(), to))
        .isEqualTo(WrittenExtents.bytes(source, 1, from));
    assertThat(WrittenExtents.entries(target, slab.getIndex(), to))
        .isEqualTo(WrittenExtents.entries(source, 1, from));
  }

  /** Asks to refuse the copier's grants in the units of {@code extent}; whether they are. */
  private boolean fence(Extent extent, long grant) {
    FencedExtent fenced =
        FencedExtent.newBuilder()
            .setArena(slab.getArena())
            .setOffset(slab.getIndex() * Layout.SLAB_SIZE + extent.getOffset())
            .setCapacity(extent.getCapacity())
            .setLease(slab.getLease())
            .setGrantee(Grant.COPIER)
            .setGrant(grant)
            .setForce(true)
            .build();
    return zone.handle(
                Request.newBuilder()
                    .setFenceExtents(FenceExtents.newBuilder().setLeader(LEADER).addExtents(fenced))
                    .build())
            .getFencedExtents()
            .getDoneCount()
        == 1;
  }

  @Test
  void shouldStoreWhatIsElsewhereInTheOtherSlab() throws Exception {
    MappedMemory source = arena(2);
    local(2, source);
    Extent from = written(source, 3, 2 * UNIT, 99_999);
    Extent to = at(40, GRANT, from);
    assertThat(ask(move(from, to, 2))).isEqualTo(CopyProgress.getDefaultInstance());
    steps();
    assertThat(ask(move(from, to, 2)).getDoneList()).containsExactly(0);
    assertMoved(source, from, to);
  }

  @Test
  void shouldCopyFromItsOwnArena() throws Exception {
    byte[] bytes = new byte[100_000];
    random.nextBytes(bytes);
    Extent from =
        WrittenExtents.write(target, 1, 5, bytes).toBuilder().setCapacity(2 * UNIT).build();
    Extent to = at(40, GRANT, from);
    CopyExtents.Builder move =
        move(from, to)
            .addSources(Replica.newBuilder().setServer(1).setIndex(1))
            .setTarget(Slabs.replica(1, slab));
    ask(move);
    steps();
    assertThat(ask(move).getDoneList()).containsExactly(0);
    assertMoved(target, from, to);
    assertThat(connects).isEmpty();
  }

  @Test
  void shouldDoNothingUnderAGrantThatIsFenced() throws Exception {
    MappedMemory source = arena(2);
    local(2, source);
    Extent from = written(source, 3, UNIT, UNIT);
    Extent to = at(40, GRANT, from);
    byte[] before = WrittenExtents.bytes(target, slab.getIndex(), to);
    ask(move(from, to, 2)); // and it is not stepped before
    assertThat(fence(to, GRANT)).isTrue();
    steps();
    CopyProgress late = ask(move(from, to, 2));
    assertThat(late.getDoneCount()).isZero();
    ask(move(from, to, 2)); // nor when it is asked again
    steps();
    assertThat(ask(move(from, to, 2)).getDoneCount()).isZero();
    assertThat(WrittenExtents.bytes(target, slab.getIndex(), to)).isEqualTo(before);
    Extent next = at(40, GRANT + 1, from);
    ask(move(from, next, 2));
    steps();
    assertThat(ask(move(from, next, 2)).getDoneList()).containsExactly(0);
    assertMoved(source, from, next);
  }

  @Test
  void shouldNotFenceWhileACopyIsBeingStored() throws Exception {
    MappedMemory source = arena(2);
    Extent from = written(source, 3, UNIT, UNIT);
    Extent to = at(40, GRANT, from);
    List<Boolean> fenced = new ArrayList<>();
    SlabTable table = HeapSlabs.table(List.of(ARENA));
    table.hear(1, 1);
    table.lease(1, 1, 1, 1);
    long lease = table.lease(0);
    SlabTable.Units units = new SlabTable.Units(40, 1);
    assertThat(table.beginStore(0, 1, lease, units, GRANT)).isTrue();
    assertThat(table.close(0, 1, lease, 40, 1, GRANT)).isFalse();
    assertThat(table.close(0, 1, lease, 38, 4, GRANT)).isFalse();
    assertThat(table.close(0, 1, lease, 41, 1, GRANT)).as("other units").isTrue();
    table.endStore(0);
    assertThat(table.close(0, 1, lease, 40, 1, GRANT)).isTrue();
    assertThat(table.beginStore(0, 1, lease, units, GRANT)).isFalse();
    assertThat(table.beginStore(0, 1, lease, units, GRANT + 1)).isTrue();
    table.endStore(0);
    servers.put(
        2,
        server ->
            new SlabSource() {
              @Override
              public Bytes read(int arena, int offset, int length) {
                fenced.add(fence(to, GRANT)); // while it is read nothing is stored yet
                int entries = length / Layout.GRANULE_SIZE * Integer.BYTES;
                int entriesAt = offset / Layout.GRANULE_SIZE * Integer.BYTES;
                return new Bytes(source.slice(offset, length), source.slice(entriesAt, entries));
              }

              @Override
              public void close() {}
            });
    byte[] before = WrittenExtents.bytes(target, slab.getIndex(), to);
    ask(move(from, to, 2));
    steps();
    assertThat(fenced).containsExactly(true);
    assertThat(WrittenExtents.bytes(target, slab.getIndex(), to)).isEqualTo(before);
  }

  @Test
  void shouldVerifyBeforeItStores() throws Exception {
    MappedMemory source = arena(2);
    local(2, source);
    Extent from = written(source, 3, UNIT, UNIT);
    flip(source, Layout.SLAB_SIZE + from.getOffset() + 100);
    Extent to = at(40, GRANT, from);
    byte[] before = WrittenExtents.bytes(target, slab.getIndex(), to);
    ask(move(from, to, 2));
    steps();
    CopyProgress progress = ask(move(from, to, 2));
    assertThat(progress.getDoneCount()).isZero();
    assertThat(progress.getFailed(0).getSource()).isEqualTo(2);
    assertThat(progress.getFailed(0).getWrongBytes()).isTrue();
    assertThat(WrittenExtents.bytes(target, slab.getIndex(), to)).isEqualTo(before);
  }

  @Test
  void shouldMoveToASlabThatIsVerifiedMeanwhile() throws Exception {
    MappedMemory source = arena(2);
    local(2, source);
    Extent from = written(source, 3, UNIT, UNIT);
    Extent to = at(40, GRANT, from);
    ask(move(from, to, 2));
    steps();
    CopyExtents.Builder verify = request(List.of(to)).setAttempt(slab.getLease());
    ask(verify);
    Extent second = at(41, GRANT + 1, from);
    ask(move(from, second, 2));
    steps();
    assertThat(ask(verify).getDoneList()).containsExactly(0);
    assertThat(ask(move(from, second, 2)).getDoneList()).containsExactly(0);
    assertThat(ask(move(from, to, 2)).getDoneList()).containsExactly(0);
  }

  @Test
  void shouldForgetMovesThatWereLongAgo() throws Exception {
    MappedMemory source = arena(2);
    local(2, source);
    Extent from = written(source, 3, UNIT, 5000);
    for (int i = 0; i < 3 * SlabCopy.MOVES_MAX; i++) {
      Extent to = at(40 + i, GRANT + i, from);
      ask(move(from, to, 2));
      steps();
      assertThat(ask(move(from, to, 2)).getDoneList()).containsExactly(0);
    }
    Extent first = at(40, GRANT, from);
    assertThat(ask(move(from, first, 2)).getDoneCount()).as("it is looked at again").isZero();
    steps();
    assertThat(ask(move(from, first, 2)).getDoneList()).containsExactly(0);
  }

  @Test
  void shouldRefuseWhatHasNoPlaceOrNoGrant() throws Exception {
    Extent from = written(arena(2), 3, UNIT, UNIT);
    Extent to = at(40, GRANT, from);
    List<CopyExtents.Builder> bad =
        List.of(
            move(from, to),
            move(from, to, 2).addSourceOffsets(0),
            move(from, at(40, 0, from), 2),
            move(from.toBuilder().setOffset(-UNIT).build(), to, 2),
            move(from.toBuilder().setOffset(17).build(), to, 2),
            move(from.toBuilder().setOffset(Layout.SLAB_SIZE).build(), to, 2));
    for (CopyExtents.Builder each : bad) {
      assertThat(reply(each).getStatus()).as(each.toString()).isEqualTo(Status.INVALID_ARGUMENT);
    }
  }
}
