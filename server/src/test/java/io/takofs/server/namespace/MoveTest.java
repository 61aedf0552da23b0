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
import io.takofs.proto.Concat;
import io.takofs.proto.ConcatSource;
import io.takofs.proto.Create;
import io.takofs.proto.EndMove;
import io.takofs.proto.Extent;
import io.takofs.proto.FileInfo;
import io.takofs.proto.FormatGroup;
import io.takofs.proto.GrantMove;
import io.takofs.proto.LogEntry;
import io.takofs.proto.MoveExtents;
import io.takofs.proto.OpenedFile;
import io.takofs.proto.RemoveSlab;
import io.takofs.proto.Replica;
import io.takofs.proto.Reply;
import io.takofs.proto.Request;
import io.takofs.proto.Status;
import io.takofs.proto.Truncate;
import io.takofs.server.extent.Grant;
import io.takofs.server.extent.Quarantined;
import io.takofs.server.namespace.operation.MoveQueries;
import io.takofs.server.namespace.state.FilesToMove.FileToMove;
import io.takofs.server.store.HeapStore;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Files move to slabs with another number of copies. */
class MoveTest {
  private static final int UNITS = Layout.SLAB_SIZE / Layout.UNIT_SIZE;
  private static final long UNIT = Layout.UNIT_SIZE;

  private final Harness harness = new Harness(new HeapStore(Long.MAX_VALUE), List.of());
  private Harness.Client root;
  private long one;
  private long three;

  @BeforeEach
  void addSlabs() {
    assertOk(
        harness.apply(
            LogEntry.newBuilder().setFormatGroup(FormatGroup.newBuilder().setReplicationMax(3))));
    one = add(1, 1, 0);
    three = add(3, 2, 0);
    root = harness.superuser();
  }

  @AfterEach
  void check() {
    Consistency.check(harness);
  }

  private long add(int wanted, int server, int index) {
    Replica replica =
        Replica.newBuilder().setServer(server).setIndex(index).setLease(100 + index).build();
    Reply reply =
        harness.apply(
            LogEntry.newBuilder()
                .setAddSlab(
                    AddSlab.newBuilder().setWanted(wanted).setEndUnit(UNITS).addReplicas(replica)));
    assertOk(reply);
    return reply.getSlabs(0).getId();
  }

  private OpenedFile opened(String path, int copies) {
    Reply reply =
        root.create(Create.newBuilder().setPath(path).setPermission(0644).setReplication(copies));
    assertOk(reply);
    return reply.getOpenedFile();
  }

  /** A closed file of extents of one unit, and a last one that is not full. */
  private FileInfo file(String path, int copies, int extents) {
    OpenedFile opened = opened(path, copies);
    CommitExtents.Builder commit = commit(opened);
    long end = 0;
    for (int i = 0; i < extents; i++) {
      int length = (int) (i < extents - 1 ? UNIT : UNIT - 100);
      commit.addExtents(written(root.granted(opened, 1), end, length));
      end += length;
    }
    return root.committed(commit.setLength(end).setClose(true).setAllWritesCompleted(true));
  }

  private void setReplication(String path, int copies) {
    assertOk(root.set(Harness.attributes(path).setReplication(copies)));
  }

  private FileToMove toMove() {
    List<FileToMove> files = harness.machine.moves().filesAfter(0, 10);
    assertThat(files).hasSize(1);
    return files.get(0);
  }

  private List<Extent> next() {
    FileToMove file = toMove();
    int copies = harness.machine.moves().copies(file);
    return harness.machine.moves().next(file, 0, copies, 100).extents();
  }

  private Reply grant(long file, List<Extent> extents) {
    return harness.apply(
        LogEntry.newBuilder()
            .setGrantMove(GrantMove.newBuilder().setFileId(file).addAllExtents(extents)));
  }

  private List<Extent> granted(long file, List<Extent> extents) {
    Reply reply = grant(file, extents);
    assertOk(reply);
    assertThat(reply.getGrants().getExtentsList()).hasSameSizeAs(extents);
    return reply.getGrants().getExtentsList();
  }

  /** The extents that were moved. */
  private List<Extent> move(long file, List<Extent> from, List<Extent> to) {
    Reply reply =
        harness.apply(
            LogEntry.newBuilder()
                .setMoveExtents(
                    MoveExtents.newBuilder().setFileId(file).addAllFrom(from).addAllTo(to)));
    assertOk(reply);
    assertThat(harness.machine.moves().copierGrants()).doesNotContainAnyElementsOf(to);
    return reply.getGrants().getExtentsList();
  }

  private void end(EndMove.Builder end) {
    assertOk(harness.apply(LogEntry.newBuilder().setEndMove(end)));
  }

  private List<Quarantined> resting() {
    return harness.machine.quarantined(Long.MAX_VALUE, 100);
  }

  @Test
  void shouldMoveAClosedFile() {
    long file = file("/f", 1, 3).getId();
    setReplication("/f", 3);
    harness.restart();
    List<Extent> before = root.extents("/f");
    long version = root.info("/f").getVersion();
    assertThat(next()).isEqualTo(before).allMatch(extent -> extent.getSlab() == one);
    List<Extent> to = granted(file, before);
    assertThat(harness.machine.moves().copierGrants()).containsExactlyElementsOf(to);
    assertThat(move(file, before, to)).isEqualTo(before);
    List<Extent> after = root.extents("/f");
    for (int i = 0; i < 3; i++) {
      assertThat(after.get(i).getSlab()).isEqualTo(three);
      assertThat(after.get(i).getGeneration()).isEqualTo(to.get(i).getGrant());
      assertThat(after.get(i).getFileOffset()).isEqualTo(before.get(i).getFileOffset());
      assertThat(after.get(i).getLength()).isEqualTo(before.get(i).getLength());
      assertThat(after.get(i).getChecksumsCrc()).isEqualTo(before.get(i).getChecksumsCrc());
      assertThat(after.get(i).getTailCrc()).isEqualTo(before.get(i).getTailCrc());
    }
    assertThat(root.info("/f").getVersion()).isGreaterThan(version);
    assertThat(resting()).hasSize(3).allMatch(extent -> extent.grantee() == 0);
    assertThat(next()).isEmpty();
    end(EndMove.newBuilder().setFileId(file).setAsked(toMove().asked()));
    assertThat(harness.machine.moves().files()).isZero();
    harness.freeAll();
    assertOk(root.delete("/f", false));
    assertThat(resting())
        .as("a copy may come late, until it is fenced")
        .hasSize(3)
        .allMatch(extent -> extent.grantee() == Grant.COPIER && extent.grant() != 0);
    harness.reclaimAll();
    assertThat(harness.machine.usage().getUsed()).isZero();
  }

  @Test
  void shouldBeginANewExtentAfterAMovedOne() {
    long file = file("/f", 1, 1).getId();
    setReplication("/f", 3);
    List<Extent> from = next();
    move(file, from, granted(file, from));
    Reply appended = root.append("/f");
    assertOk(appended);
    assertThat(appended.getOpenedFile().hasLastExtent()).isFalse();
  }

  @Test
  void shouldNotMoveWhatSomebodyWrites() {
    long file = file("/f", 1, 2).getId();
    setReplication("/f", 3);
    List<Extent> from = next();
    List<Extent> to = granted(file, from);
    assertOk(root.append("/f"));
    assertThat(move(file, from, to)).isEmpty();
    assertThat(root.extents("/f")).isEqualTo(from);
    assertThat(resting()).hasSize(2).allMatch(extent -> extent.grantee() == Grant.COPIER);
    assertStatus(grant(file, from), Status.LEASE_HELD);
    assertThat(harness.machine.moves().mayMove(toMove())).isFalse();
  }

  @Test
  void shouldNotMoveWhatHasChangedMeanwhile() {
    long file = file("/f", 1, 2).getId();
    setReplication("/f", 3);
    List<Extent> from = next();
    List<Extent> to = granted(file, from);
    assertOk(
        root.truncate(
            Truncate.newBuilder()
                .setPath("/f")
                .setLength(UNIT + 10)
                .setExpectedVersion(root.info("/f").getVersion())
                .setLastExtent(from.get(1).toBuilder().setLength(10).setTailCrc(5))));
    assertThat(move(file, from, to))
        .as("only the one that was not cut")
        .containsExactly(from.get(0));
    assertThat(root.extents("/f").get(1).getSlab()).isEqualTo(one);
    assertThat(next()).hasSize(1);
    List<Extent> rest = next();
    assertThat(move(file, rest, granted(file, rest))).isEqualTo(rest);
  }

  @Test
  void shouldNotMoveWhatIsGone() {
    long file = file("/f", 1, 2).getId();
    setReplication("/f", 3);
    List<Extent> from = next();
    List<Extent> to = granted(file, from);
    assertOk(root.delete("/f", false));
    assertThat(harness.machine.moves().files()).isZero();
    assertThat(move(file, from, to)).isEmpty();
    assertStatus(grant(file, from), Status.NOT_FOUND);
    harness.reclaimAll();
    assertThat(harness.machine.usage().getUsed()).isZero();
  }

  @Test
  void shouldNotMoveUnderAGrantThatEnded() {
    long file = file("/f", 1, 1).getId();
    setReplication("/f", 3);
    List<Extent> from = next();
    List<Extent> to = granted(file, from);
    end(EndMove.newBuilder().addAllGrants(to));
    end(EndMove.newBuilder().addAllGrants(to)); // again is harmless
    assertThat(resting()).hasSize(1);
    List<Extent> second = granted(file, from);
    assertThat(move(file, from, to)).isEmpty();
    assertThat(move(file, from, second)).isEqualTo(from);
  }

  @Test
  void shouldEndTheCopiersGrantsWhenTheirSlabCloses() {
    long file = file("/f", 1, 1).getId();
    setReplication("/f", 3);
    List<Extent> from = next();
    List<Extent> to = granted(file, from);
    assertOk(
        harness.apply(
            LogEntry.newBuilder().setCloseSlab(CloseSlab.newBuilder().setId(three).setVersion(1))));
    assertThat(harness.machine.moves().copierGrants()).isEmpty();
    assertThat(resting()).hasSize(1).allMatch(each -> !harness.machine.isKept(each));
    assertThat(move(file, from, to)).isEmpty();
    Reply none = grant(file, from);
    assertOk(none);
    assertThat(none.getGrants().getExtentsList()).as("there is no other slab").isEmpty();
  }

  @Test
  void shouldAskForAMoveOnlyWhereDataMayLieElsewhere() {
    file("/data", 3, 1);
    setReplication("/data", 3);
    setReplication("/data", 7); // at most three are kept
    root.committed(commit(opened("/empty", 1)).setClose(true));
    setReplication("/empty", 3);
    assertThat(harness.machine.moves().files()).isZero();
    OpenedFile open = opened("/open", 1);
    Extent extent = root.granted(open, 1);
    setReplication("/open", 3);
    assertThat(harness.machine.moves().mayMove(toMove())).isFalse();
    root.committed(commit(open).setLength(10).setClose(true).addExtents(written(extent, 0, 10)));
    assertThat(harness.machine.moves().mayMove(toMove())).isTrue();
    assertThat(next()).hasSize(1);
  }

  @Test
  void shouldFindAFileThatIsRenamedMeanwhile() {
    long file = file("/f", 1, 1).getId();
    setReplication("/f", 3);
    assertOk(root.mkdirs("/d"));
    assertOk(root.rename("/f", "/d/g", false));
    List<Extent> from = next();
    assertThat(move(file, from, granted(file, from))).isEqualTo(from);
    assertThat(root.extents("/d/g").get(0).getSlab()).isEqualTo(three);
  }

  @Test
  void shouldForgetAnEarlierWishOnlyWithThatOne() {
    long file = file("/f", 1, 1).getId();
    setReplication("/f", 3);
    FileToMove first = toMove();
    setReplication("/f", 2);
    assertThat(harness.machine.moves().mayMove(first)).isFalse();
    end(EndMove.newBuilder().setFileId(file).setAsked(first.asked()));
    assertThat(harness.machine.moves().files()).isEqualTo(1);
    setReplication("/f", 1);
    assertThat(next()).as("it lies where it is to lie").isEmpty();
  }

  @Test
  void shouldMoveWhatWasConcatenated() {
    file("/a", 3, 1);
    FileInfo source = file("/b", 1, 2);
    setReplication("/b", 2); // it is gone before that is done
    OpenedFile target = root.append("/a").getOpenedFile();
    assertOk(
        root.call(
            Request.newBuilder()
                .setConcat(
                    Concat.newBuilder()
                        .setTarget("/a")
                        .setCommit(commit(target).setClose(true).setAllWritesCompleted(true))
                        .addSources(
                            ConcatSource.newBuilder()
                                .setName("b")
                                .setFileId(source.getId())
                                .setVersion(source.getVersion())))));
    assertThat(toMove().fileId()).isEqualTo(target.getFile().getId());
    List<Extent> from = next();
    assertThat(from).hasSize(2);
    move(toMove().fileId(), from, granted(toMove().fileId(), from));
    assertThat(root.extents("/a")).allMatch(extent -> extent.getSlab() == three);
  }

  private void closeSlab(long slab) {
    CloseSlab.Builder close = CloseSlab.newBuilder().setId(slab).setVersion(1);
    assertOk(harness.apply(LogEntry.newBuilder().setCloseSlab(close)));
  }

  private Reply grantToEmpty(long file, List<Extent> extents) {
    GrantMove.Builder grant =
        GrantMove.newBuilder().setFileId(file).addAllExtents(extents).setEmptiesSlab(true);
    return harness.apply(LogEntry.newBuilder().setGrantMove(grant));
  }

  private List<Extent> moveToEmpty(long file, List<Extent> from, List<Extent> to) {
    MoveExtents.Builder move =
        MoveExtents.newBuilder().setFileId(file).addAllFrom(from).addAllTo(to).setEmptiesSlab(true);
    Reply reply = harness.apply(LogEntry.newBuilder().setMoveExtents(move));
    assertOk(reply);
    return reply.getGrants().getExtentsList();
  }

  @Test
  void shouldEmptyASlab() {
    long file = file("/f", 1, 3).getId();
    assertOk(root.mkdirs("/d"));
    assertOk(root.rename("/f", "/d/g", false));
    long other = add(1, 1, 1);
    List<Extent> from = root.extents("/d/g");
    closeSlab(one);
    Reply granted = grantToEmpty(file, from);
    assertOk(granted);
    List<Extent> to = granted.getGrants().getExtentsList();
    assertThat(to).hasSize(3).allMatch(extent -> extent.getSlab() == other);
    assertThat(moveToEmpty(file, from, to)).isEqualTo(from);
    assertThat(root.extents("/d/g")).hasSize(3).allMatch(extent -> extent.getSlab() == other);
    assertOk(
        harness.apply(LogEntry.newBuilder().setRemoveSlab(RemoveSlab.newBuilder().setId(one))));
    harness.restart();
    assertThat(root.extents("/d/g")).hasSize(3).allMatch(extent -> extent.getSlab() == other);
    assertThat(harness.machine.moves().files()).isZero();
  }

  @Test
  void shouldEmptyAClosedSlabOnlyOfFilesThatNobodyWrites() {
    long file = file("/f", 1, 2).getId();
    add(1, 1, 1);
    List<Extent> from = root.extents("/f");
    assertStatus(grantToEmpty(file, from), Status.STALE_VERSION);
    closeSlab(one);
    List<Extent> to = grantToEmpty(file, from).getGrants().getExtentsList();
    assertThat(to).hasSize(2);
    assertOk(root.append("/f"));
    assertStatus(grantToEmpty(file, from), Status.LEASE_HELD);
    assertThat(moveToEmpty(file, from, to)).isEmpty();
    assertThat(root.extents("/f")).isEqualTo(from);
    assertThat(resting()).hasSize(2).allMatch(extent -> extent.grantee() == Grant.COPIER);
  }

  @Test
  void shouldNotMoveOutOfAnEmptiedSlabWhatIsGone() {
    long file = file("/f", 1, 2).getId();
    add(1, 1, 1);
    List<Extent> from = root.extents("/f");
    closeSlab(one);
    List<Extent> to = grantToEmpty(file, from).getGrants().getExtentsList();
    assertOk(root.delete("/f", false));
    assertThat(moveToEmpty(file, from, to)).isEmpty();
    assertThat(grantToEmpty(file, from).getGrants().getExtentsList()).isEmpty();
    harness.reclaimAll();
    assertThat(harness.machine.usage().getUsed()).isZero();
  }

  /** A deleted file of many extents is given up piece by piece; its writer may not know yet. */
  @Test
  void shouldNameTheWriterOfWhatIsDeletedAndMovedBeforeItIsReclaimed() {
    OpenedFile opened = opened("/f", 1);
    CommitExtents.Builder commit = commit(opened);
    for (int i = 0; i < 6; i++) {
      int length = (int) (i < 5 ? UNIT : UNIT - 100);
      commit.addExtents(written(root.granted(opened, 1), i * UNIT, length));
    }
    root.committed(commit.setLength(6 * UNIT - 100));
    assertOk(root.delete("/f", false));
    List<Extent> left = harness.machine.committedIn(one);
    assertThat(left).hasSize(2);
    add(1, 1, 1);
    closeSlab(one);
    long file = opened.getFile().getId();
    List<Extent> to = grantToEmpty(file, left).getGrants().getExtentsList();
    assertThat(moveToEmpty(file, left, to)).isEqualTo(left);
    assertThat(resting()).filteredOn(each -> each.grantee() == root.id).hasSize(1);
    harness.reclaimAll();
    assertThat(harness.machine.usage().getUsed()).isZero();
  }

  @Test
  void shouldTellWhoCutsAFileThatItsExtentMoved() {
    FileInfo file = file("/f", 1, 2);
    add(1, 1, 1);
    List<Extent> from = root.extents("/f");
    closeSlab(one);
    moveToEmpty(file.getId(), from, grantToEmpty(file.getId(), from).getGrants().getExtentsList());
    Truncate.Builder cut =
        Truncate.newBuilder()
            .setPath("/f")
            .setLength(UNIT + 10)
            .setExpectedVersion(file.getVersion());
    assertStatus(
        root.truncate(cut.setLastExtent(from.get(1).toBuilder().setLength(10).setTailCrc(5))),
        Status.STALE_VERSION);
    Extent now = root.extents("/f").get(1);
    assertOk(root.truncate(cut.setLastExtent(now.toBuilder().setLength(10).setTailCrc(5))));
  }

  @Test
  void shouldGrantAsMuchAsTheBytesNeed() {
    assertThat(MoveQueries.capacityFor(1)).isEqualTo(Layout.UNIT_SIZE);
    assertThat(MoveQueries.capacityFor(Layout.UNIT_SIZE)).isEqualTo(Layout.UNIT_SIZE);
    assertThat(MoveQueries.capacityFor(Layout.UNIT_SIZE + 1)).isEqualTo(2 * Layout.UNIT_SIZE);
    assertThat(MoveQueries.capacityFor(5 * Layout.UNIT_SIZE)).isEqualTo(8 * Layout.UNIT_SIZE);
    assertThat(MoveQueries.capacityFor(Layout.EXTENT_SIZE_MAX)).isEqualTo(Layout.EXTENT_SIZE_MAX);
  }
}
