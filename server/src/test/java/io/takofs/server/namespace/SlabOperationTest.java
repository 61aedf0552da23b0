package io.takofs.server.namespace;

import static io.takofs.server.namespace.Harness.commit;
import static io.takofs.server.namespace.Harness.written;
import static io.takofs.server.namespace.Statuses.assertOk;
import static io.takofs.server.namespace.Statuses.assertStatus;
import static org.assertj.core.api.Assertions.assertThat;

import io.takofs.layout.Layout;
import io.takofs.proto.AddSlab;
import io.takofs.proto.CloseSlab;
import io.takofs.proto.CommitExtents;
import io.takofs.proto.Create;
import io.takofs.proto.Extent;
import io.takofs.proto.FormatGroup;
import io.takofs.proto.LeftReplica;
import io.takofs.proto.LogEntry;
import io.takofs.proto.OpenSlab;
import io.takofs.proto.OpenedFile;
import io.takofs.proto.RemoveSlab;
import io.takofs.proto.Replica;
import io.takofs.proto.Reply;
import io.takofs.proto.Slab;
import io.takofs.proto.Status;
import io.takofs.proto.SwitchReplica;
import io.takofs.server.store.HeapStore;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class SlabOperationTest {
  private static final int UNITS = Layout.SLAB_SIZE / Layout.UNIT_SIZE;
  private static final int KIB = 1024;

  private final Harness harness = new Harness(new HeapStore(Long.MAX_VALUE), List.of());
  private Harness.Client root;

  @BeforeEach
  void allowThreeCopies() {
    assertOk(limit(3));
    root = harness.superuser();
  }

  private Reply limit(int copies) {
    return harness.apply(
        LogEntry.newBuilder()
            .setFormatGroup(
                FormatGroup.newBuilder()
                    .setSuperuser("somebody")
                    .setReplicationMax(copies)
                    .setInlineMax(7)));
  }

  private static Replica replica(int server, int index) {
    return Replica.newBuilder().setServer(server).setIndex(index).setLease(100 + index).build();
  }

  private static AddSlab.Builder slab(int wanted, Replica... replicas) {
    return AddSlab.newBuilder()
        .setWanted(wanted)
        .setEndUnit(UNITS)
        .addAllReplicas(List.of(replicas));
  }

  private Reply add(AddSlab.Builder slab) {
    return harness.apply(LogEntry.newBuilder().setAddSlab(slab));
  }

  private Slab added(AddSlab.Builder slab) {
    Reply reply = add(slab);
    assertOk(reply);
    return reply.getSlabs(0);
  }

  private Reply close(Slab slab) {
    return harness.apply(
        LogEntry.newBuilder()
            .setCloseSlab(
                CloseSlab.newBuilder().setId(slab.getId()).setVersion(slab.getVersion())));
  }

  private Reply open(Slab slab) {
    return harness.apply(
        LogEntry.newBuilder()
            .setOpenSlab(OpenSlab.newBuilder().setId(slab.getId()).setVersion(slab.getVersion())));
  }

  private Reply remove(long id) {
    return harness.apply(LogEntry.newBuilder().setRemoveSlab(RemoveSlab.newBuilder().setId(id)));
  }

  private Reply replace(Slab slab, int leaving, Replica joining) {
    return harness.apply(
        LogEntry.newBuilder()
            .setSwitchReplica(
                SwitchReplica.newBuilder()
                    .setId(slab.getId())
                    .setVersion(slab.getVersion())
                    .setLeaving(leaving)
                    .setJoining(joining)));
  }

  private Slab now(Slab slab) {
    return harness.machine.slabs().get(slab.getId());
  }

  private OpenedFile opened(String path, int copies) {
    Reply reply =
        root.create(Create.newBuilder().setPath(path).setPermission(0644).setReplication(copies));
    assertOk(reply);
    return reply.getOpenedFile();
  }

  @Test
  void shouldChangeNothingButTheCopiesByALaterFormat() {
    for (int i = 0; i < 2; i++) {
      assertThat(harness.machine.limits().replicationMax()).isEqualTo(3);
      assertThat(harness.machine.limits().superuser()).isEqualTo(Harness.SUPERUSER);
      assertThat(harness.machine.limits().inlineMax()).isEqualTo(harness.limits.inlineMax());
      harness.restart();
    }
    assertStatus(limit(0), Status.INVALID_ARGUMENT);
  }

  @Test
  void shouldGrantInSlabsOfAsManyCopiesAsAFileAsksFor() {
    Slab one = added(slab(1, replica(1, 0)));
    Slab two = added(slab(2, replica(1, 1), replica(2, 1)));
    Slab three = added(slab(3, replica(1, 2)));
    assertThat(root.granted(opened("/1", 1), 1).getSlab()).isEqualTo(one.getId());
    assertThat(root.granted(opened("/2", 2), 1).getSlab()).isEqualTo(two.getId());
    assertThat(root.granted(opened("/3", 3), 1).getSlab()).isEqualTo(three.getId());
    assertThat(root.granted(opened("/4", 500), 1).getSlab()).isEqualTo(three.getId());
    assertOk(limit(2));
    assertThat(root.granted(opened("/5", 500), 1).getSlab()).isEqualTo(two.getId());
  }

  @Test
  void shouldRefuseSlabsThatCannotBe() {
    added(slab(1, replica(1, 0)));
    for (AddSlab.Builder wrong :
        List.of(
            slab(1),
            slab(0, replica(1, 1)),
            slab(4, replica(1, 1)),
            slab(1, replica(1, 1), replica(2, 1)),
            slab(2, replica(1, 1), replica(1, 2)),
            slab(1, replica(1, 0)),
            slab(1, replica(1, 0).toBuilder().setLease(5).build()),
            slab(1, replica(0, 1)),
            slab(1, replica(1, 1).toBuilder().setLease(0).build()),
            slab(1, replica(1, 1)).setFirstUnit(UNITS),
            slab(1, replica(1, 1)).setEndUnit(UNITS + 1))) {
      assertStatus(add(wrong), Status.INVALID_ARGUMENT);
    }
    assertThat(harness.machine.slabs().size()).isEqualTo(1);
  }

  @Test
  void shouldEndEveryGrantInASlabThatCloses() {
    Slab slab = added(slab(1, replica(1, 0)));
    OpenedFile file = opened("/file", 1);
    Extent first = root.granted(file, 64 * KIB);
    root.committed(commit(file).setLength(100).addExtents(written(first, 0, 100)));
    Extent second = root.granted(file, 64 * KIB);
    long quarantined = harness.machine.quarantinedCount();

    assertOk(close(slab));
    assertOk(close(slab)); // once more changes nothing
    assertThat(now(slab).getClosed()).isTrue();
    assertThat(now(slab).getVersion()).isEqualTo(slab.getVersion());
    assertThat(harness.machine.quarantinedCount()).isEqualTo(quarantined + 1);
    assertStatus(
        root.commit(
            commit(file)
                .setLength(200)
                .addExtents(written(first, 0, 100))
                .addExtents(written(second, 100, 100))),
        Status.STALE_VERSION);
    assertStatus(
        root.commit(commit(file).setLength(200).addExtents(written(first, 0, 200))),
        Status.STALE_VERSION);
    assertStatus(root.grant(file, 1), Status.NO_SPACE);
    assertThat(root.info("/file").getLength()).isEqualTo(100);

    Slab other = added(slab(1, replica(1, 1)));
    Extent third = root.granted(file, 64 * KIB);
    assertThat(third.getSlab()).isEqualTo(other.getId());
    root.committed(commit(file).setLength(200).addExtents(written(third, 100, 100)).setClose(true));
    assertThat(root.extents("/file"))
        .extracting(Extent::getSlab)
        .containsExactly(slab.getId(), other.getId());
  }

  @Test
  void shouldNotContinueTheLastExtentInAClosedSlab() {
    Slab slab = added(slab(3, replica(1, 0))); // as many copies as are wanted without saying so
    root.file("/file", 100);
    assertOk(close(slab));
    Slab other = added(slab(3, replica(1, 1)));
    OpenedFile again = root.append("/file").getOpenedFile();
    Extent next = again.getGrantsCount() > 0 ? again.getGrants(0) : root.granted(again, 64 * KIB);
    assertThat(next.getSlab()).isEqualTo(other.getId());
  }

  @Test
  void shouldTellALateWriterThatItsGrantHasEndedThoughItsExtentIsFree() {
    Slab slab = added(slab(1, replica(1, 0)));
    OpenedFile file = opened("/file", 1);
    Extent granted = root.granted(file, 64 * KIB);
    CommitExtents.Builder late = commit(file).setLength(100).addExtents(written(granted, 0, 100));
    assertOk(close(slab));
    assertStatus(root.commit(late), Status.STALE_VERSION);
    harness.freeAll();
    assertStatus(root.commit(late), Status.STALE_VERSION);
    assertOk(open(slab));
    Extent others = root.granted(opened("/other", 1), 64 * KIB);
    assertThat(others.getOffset()).isEqualTo(granted.getOffset());
    assertStatus(root.commit(late), Status.STALE_VERSION);
    root.delete("/other", false);
    harness.reclaimAll();
    assertOk(close(slab));
    assertOk(remove(slab.getId()));
    assertStatus(root.commit(late), Status.STALE_VERSION);
  }

  @Test
  void shouldGrantAgainInASlabThatOpens() {
    Slab slab = added(slab(1, replica(1, 0)));
    OpenedFile file = opened("/file", 1);
    assertOk(close(slab));
    assertStatus(root.grant(file, 1), Status.NO_SPACE);
    harness.restart();
    assertStatus(root.grant(file, 1), Status.NO_SPACE);
    assertOk(open(slab));
    assertThat(root.granted(file, 1).getSlab()).isEqualTo(slab.getId());
  }

  @Test
  void shouldRefuseWhatWasProposedForAnotherVersion() {
    Slab slab = added(slab(2, replica(1, 0)));
    Slab later = slab.toBuilder().setVersion(2).build();
    assertStatus(close(later), Status.STALE_VERSION);
    assertStatus(open(later), Status.STALE_VERSION);
    assertStatus(replace(later, 0, replica(2, 0)), Status.STALE_VERSION);
    assertThat(now(slab)).isEqualTo(slab);
    assertOk(close(slab));
    assertOk(replace(slab, 0, replica(2, 0)));
    assertThat(now(slab).getVersion()).isEqualTo(2);
    assertStatus(open(slab), Status.STALE_VERSION);
    assertStatus(replace(slab, 1, replica(3, 0)), Status.STALE_VERSION);
    assertThat(now(slab).getClosed()).isTrue();
    assertOk(open(now(slab)));
    assertStatus(close(slab.toBuilder().setId(99_999).build()), Status.NOT_FOUND);
  }

  @Test
  void shouldReplaceOneReplicaByOneOrAddOne() {
    Slab slab = added(slab(2, replica(1, 0), replica(2, 0)));
    Slab other = added(slab(1, replica(3, 7)));
    assertStatus(replace(slab, 1, replica(3, 0)), Status.INVALID_ARGUMENT); // it is open
    assertOk(close(slab));
    assertStatus(replace(slab, 0, replica(3, 0)), Status.INVALID_ARGUMENT); // three of two
    assertStatus(replace(slab, 1, replica(2, 1)), Status.INVALID_ARGUMENT); // two at server 2
    assertStatus(replace(slab, 4, replica(3, 0)), Status.INVALID_ARGUMENT); // nothing there
    assertStatus(replace(slab, 1, replica(3, 7)), Status.INVALID_ARGUMENT); // of another slab
    assertStatus(replace(slab, 1, Replica.getDefaultInstance()), Status.INVALID_ARGUMENT);
    assertThat(now(slab)).isEqualTo(slab.toBuilder().setClosed(true).build());

    assertOk(replace(slab, 1, replica(3, 0)));
    for (int i = 0; i < 2; i++) {
      assertThat(now(slab).getReplicasList())
          .containsExactlyInAnyOrder(replica(2, 0), replica(3, 0));
      assertThat(harness.machine.slabs().at(replica(3, 0))).isEqualTo(now(slab));
      assertThat(harness.machine.slabs().at(replica(1, 0))).isNull();
      assertThat(harness.machine.slabs().at(replica(3, 7))).isEqualTo(now(other));
      harness.restart();
    }
  }

  @Test
  void shouldKeepASlabUntilItsExtentsRest() {
    Slab slab = added(slab(1, replica(1, 0)));
    OpenedFile file = opened("/file", 1);
    Extent grant = root.granted(file, 64 * KIB);
    assertStatus(remove(slab.getId()), Status.NOT_EMPTY);
    root.committed(commit(file).setLength(1).addExtents(written(grant, 0, 1)).setClose(true));
    assertStatus(remove(slab.getId()), Status.NOT_EMPTY);
    assertOk(root.delete("/file", false));
    assertThat(harness.machine.quarantinedCount()).isEqualTo(1);
    assertOk(remove(slab.getId()));
    assertThat(harness.machine.leftReplicas().all())
        .containsExactly(
            LeftReplica.newBuilder().setReplica(replica(1, 0)).addGrantees(root.id).build());
    assertStatus(remove(slab.getId()), Status.NOT_FOUND);
    harness.restart();
    assertThat(harness.machine.slabs().size()).isZero();
    assertThat(harness.machine.usage().getCapacity()).isZero();
  }
}
