package io.takofs.server.namespace;

import static io.takofs.server.namespace.Harness.commit;
import static io.takofs.server.namespace.Harness.written;
import static io.takofs.server.namespace.Statuses.assertOk;
import static io.takofs.server.namespace.Statuses.assertStatus;
import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import io.takofs.proto.Create;
import io.takofs.proto.Extent;
import io.takofs.proto.FileInfo;
import io.takofs.proto.GetExtents;
import io.takofs.proto.GrantExtents;
import io.takofs.proto.OpenedFile;
import io.takofs.proto.Reply;
import io.takofs.proto.Request;
import io.takofs.proto.Status;
import io.takofs.proto.Truncate;
import io.takofs.server.extent.Quarantined;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class FileTest {
  private static final int UNIT = 65536;

  private final Harness server = new Harness();
  private final Harness.Client client = server.superuser();
  private final Harness.Client other = server.superuser();

  @AfterEach
  void check() {
    Consistency.check(server);
  }

  // ---- create -----------------------------------------------------------------------------------

  @Test
  void shouldCreateAnEmptyOpenFile() {
    OpenedFile opened =
        client
            .create(
                Create.newBuilder()
                    .setPath("/f")
                    .setPermission(0600)
                    .setReplication(3)
                    .setBlockSize(3 << 20)
                    .setGrantBytes(100_000))
            .getOpenedFile();
    FileInfo info = client.info("/f");
    assertThat(opened.getFile()).isEqualTo(info.toBuilder().clearParentId().build());
    assertThat(info.getUnderConstruction()).isTrue();
    assertThat(info.getPermission()).isEqualTo(0600);
    assertThat(info.getReplication()).isEqualTo(3);
    assertThat(info.getBlockSize()).isEqualTo(3 << 20);
    assertThat(info.getModificationTimeMs()).isEqualTo(server.timeMs);
    assertThat(opened.getGrantsList().stream().mapToLong(Extent::getCapacity).sum())
        .isEqualTo(2 * UNIT);
  }

  @Test
  void shouldTakeTheDefaultsOfTheServer() {
    client.create(Create.newBuilder().setPath("/f"));
    assertThat(client.info("/f").getBlockSize()).isEqualTo(128 << 20);
    assertThat(client.info("/f").getReplication()).isEqualTo(1);
  }

  @Test
  void shouldRefuseToCreateWhereItCannotBe() {
    client.mkdirs("/d");
    client.file("/f", 1);
    assertStatus(client.create("/"), Status.ALREADY_EXISTS);
    assertStatus(client.create("/d"), Status.ALREADY_EXISTS);
    assertStatus(
        client.create(Create.newBuilder().setPath("/d").setOverwrite(true)), Status.ALREADY_EXISTS);
    assertStatus(client.create("/f"), Status.ALREADY_EXISTS);
    assertStatus(client.create("/f/x"), Status.NOT_A_DIRECTORY);
    assertStatus(client.create("/x/y"), Status.NOT_FOUND);
    assertStatus(
        client.create(Create.newBuilder().setPath("/x").setReplication(-1)),
        Status.INVALID_ARGUMENT);
    assertStatus(
        client.create(Create.newBuilder().setPath("/x").setBlockSize(-1)), Status.INVALID_ARGUMENT);
    assertThat(client.names("/")).containsExactly("d", "f");
  }

  @Test
  void shouldCreateParentsWhenAsked() {
    client.mkdirs("/a", 0750);
    assertOk(
        client.create(
            Create.newBuilder().setPath("/a/b/c/f").setPermission(0644).setCreateParents(true)));
    assertThat(client.info("/a/b/c").getPermission()).isEqualTo(0750);
    assertThat(client.info("/a/b/c/f").getPermission()).isEqualTo(0644);
  }

  @Test
  void shouldReplaceAFileByANewOne() {
    long free = server.free();
    FileInfo old = client.file("/f", 100_000);
    OpenedFile opened =
        client.create(Create.newBuilder().setPath("/f").setOverwrite(true)).getOpenedFile();
    assertThat(opened.getFile().getId()).isNotEqualTo(old.getId());
    assertThat(client.info("/f").getLength()).isZero();
    assertThat(server.machine.files()).isEqualTo(1);
    client.closeInline(opened, "new");
    server.reclaimAll();
    assertThat(server.free()).isEqualTo(free);
  }

  @Test
  void shouldTakeTheLeaseFromTheWriterOfAReplacedFile() {
    OpenedFile old = client.opened("/f");
    Extent grant = client.granted(old, 1);
    assertOk(other.create(Create.newBuilder().setPath("/f").setOverwrite(true)));
    assertStatus(
        client.commit(commit(old).addExtents(written(grant, 0, 5)).setLength(5)),
        Status.LEASE_LOST);
    assertThat(client.info("/f").getLength()).isZero();
    assertThat(server.machine.quarantined(Long.MAX_VALUE, 10))
        .extracting(Quarantined::grantee)
        .containsExactly(client.id);
  }

  @Test
  void shouldSayThatAnotherClientWritesTheFile() {
    client.opened("/f");
    assertStatus(other.create("/f"), Status.LEASE_HELD);
    assertStatus(client.create("/f"), Status.ALREADY_EXISTS);
    server.lapsed = List.of(client.id);
    assertStatus(other.create("/f"), Status.ALREADY_EXISTS);
  }

  // ---- commit -----------------------------------------------------------------------------------

  @Test
  void shouldMakeBytesVisibleOnlyByCommit() {
    OpenedFile opened = client.opened("/f");
    Extent grant = client.granted(opened, 1000);
    FileInfo before = client.info("/f");
    assertThat(client.extents("/f")).isEmpty();
    FileInfo after =
        client.committed(commit(opened).addExtents(written(grant, 0, 1000)).setLength(1000));
    assertThat(after.getLength()).isEqualTo(1000);
    assertThat(after.getVersion()).isGreaterThan(before.getVersion());
    assertThat(after.getUnderConstruction()).isTrue();
    assertThat(client.info("/f").toBuilder().clearParentId().build()).isEqualTo(after);
    assertThat(client.extents("/f")).containsExactly(written(grant, 0, 1000));
  }

  @Test
  void shouldGrowTheLastExtentAndAddOthers() {
    OpenedFile opened = client.opened("/f");
    Extent first = client.granted(opened, 1);
    client.committed(commit(opened).addExtents(written(first, 0, 128)).setLength(128));
    client.committed(commit(opened).addExtents(written(first, 0, 256)).setLength(256));
    Extent second = client.granted(opened, 1);
    client.committed(
        commit(opened)
            .addExtents(written(first, 0, UNIT))
            .addExtents(written(second, UNIT, 10))
            .setLength(UNIT + 10));
    client.committed(commit(opened).addExtents(written(second, UNIT, 30)).setLength(UNIT + 30));
    assertThat(client.extents("/f"))
        .containsExactly(written(first, 0, UNIT), written(second, UNIT, 30));
  }

  @Test
  void shouldRefuseCommitsThatDoNotFit() {
    OpenedFile opened = client.opened("/f");
    Extent grant = client.granted(opened, 1);
    Extent next = client.granted(opened, 1);
    client.committed(commit(opened).addExtents(written(grant, 0, 1000)).setLength(1000));
    Extent foreign = other.granted(other.opened("/g"), 1);
    List<Extent> bad =
        List.of(
            written(grant, 0, 999),
            written(grant, 0, UNIT + 1),
            written(grant, 0, 0),
            written(grant, 1000, 500),
            written(next, 999, 500),
            written(next, 1001, 500),
            written(next, 0, 2000),
            written(next, -1, 2000),
            written(foreign, 1000, 500),
            written(next, 1000, 500).toBuilder().setGeneration(0).build(),
            written(next, 1000, 500).toBuilder().setCapacity(2 * UNIT).build(),
            written(next, 1000, 500).toBuilder().setOffset(12).build(),
            written(next, 1000, 500).toBuilder().setSlab(77).build(),
            written(grant, 0, 2000).toBuilder().setGeneration(0).build());
    for (Extent extent : bad) {
      assertStatus(
          client.commit(
              commit(opened)
                  .addExtents(extent)
                  .setLength(extent.getFileOffset() + extent.getLength())),
          Status.INVALID_ARGUMENT);
    }
    assertStatus(
        client.commit(commit(opened).addExtents(written(next, 1000, 500)).setLength(1499)),
        Status.INVALID_ARGUMENT);
    assertStatus(client.commit(commit(opened).setLength(999)), Status.INVALID_ARGUMENT);
    assertStatus(
        client.commit(
            commit(opened)
                .addExtents(written(next, 1000, 500))
                .addExtents(written(next, 1500, 500))
                .setLength(2000)),
        Status.INVALID_ARGUMENT);
    assertThat(client.info("/f").getLength()).isEqualTo(1000);
    assertThat(client.extents("/f")).containsExactly(written(grant, 0, 1000));
    client.committed(commit(opened).addExtents(written(next, 1000, 500)).setLength(1500));
  }

  @Test
  void shouldKeepBytesOfASmallFileInlineUntilTheyAreInExtents() {
    OpenedFile opened = client.opened("/f");
    ByteString data = ByteString.copyFromUtf8("hello");
    client.committed(commit(opened).setInlineData(data).setLength(5));
    assertThat(client.extents(GetExtents.newBuilder().setPath("/f")).getExtentMap().getInlineData())
        .isEqualTo(data);
    for (int offset : new int[] {0, 4, 6}) {
      assertStatus(
          client.commit(commit(opened).setInlineData(data).setInlineOffset(offset).setLength(10)),
          Status.INVALID_ARGUMENT);
    }
    assertStatus(
        client.commit(commit(opened).setInlineData(data).setInlineOffset(5).setLength(9)),
        Status.INVALID_ARGUMENT);
    ByteString large = ByteString.copyFrom(new byte[2044]);
    assertStatus(
        client.commit(commit(opened).setInlineData(large).setInlineOffset(5).setLength(2049)),
        Status.INVALID_ARGUMENT);
    Extent grant = client.granted(opened, 1);
    assertStatus(
        client.commit(commit(opened).addExtents(written(grant, 0, 4)).setLength(4)),
        Status.INVALID_ARGUMENT);
    assertStatus(
        client.commit(commit(opened).addExtents(written(grant, 5, 4)).setLength(9)),
        Status.INVALID_ARGUMENT);
    client.committed(commit(opened).addExtents(written(grant, 0, 3000)).setLength(3000));
    Reply map = client.extents(GetExtents.newBuilder().setPath("/f"));
    assertThat(map.getExtentMap().getInlineData()).isEmpty();
    assertThat(map.getExtentMap().getExtentsList()).containsExactly(written(grant, 0, 3000));
    assertStatus(
        client.commit(commit(opened).setInlineData(data).setLength(5)), Status.INVALID_ARGUMENT);
  }

  @Test
  void shouldKeepBytesAfterExtentsInline() {
    OpenedFile opened = client.opened("/f");
    Extent grant = client.granted(opened, 1);
    ByteString one = ByteString.copyFromUtf8("one");
    ByteString two = ByteString.copyFromUtf8("two!");
    client.committed(
        commit(opened).addExtents(written(grant, 0, 3000)).setInlineData(one).setLength(3003));
    client.committed(commit(opened).setInlineData(two).setInlineOffset(3).setLength(3007));
    assertThat(inlineOf("/f")).isEqualTo(one.concat(two));
    assertThat(client.extents("/f")).containsExactly(written(grant, 0, 3000));
    assertStatus(
        client.commit(commit(opened).addExtents(written(grant, 0, 3006)).setLength(3006)),
        Status.INVALID_ARGUMENT);
    client.committed(commit(opened).addExtents(written(grant, 0, 3000)).setLength(3007));
    client.committed(
        commit(opened).addExtents(written(grant, 0, 4000)).setInlineData(one).setLength(4003));
    assertThat(inlineOf("/f")).isEqualTo(one);
    client.committed(commit(opened).setClose(true).setAllWritesCompleted(true).setLength(4003));
    OpenedFile again = client.append("/f").getOpenedFile();
    assertThat(again.getInlineData()).isEqualTo(one);
    assertThat(again.getLastExtent().getLength()).isEqualTo(4000);
  }

  private ByteString inlineOf(String path) {
    return client.extents(GetExtents.newBuilder().setPath(path)).getExtentMap().getInlineData();
  }

  @Test
  void shouldKeepTheLargestInlineDataWithItsReply() {
    byte[] data = new byte[2048];
    client.closeInline(client.opened("/f"), "x".repeat(data.length));
    Reply appended = client.append("/f");
    assertThat(appended.getOpenedFile().getInlineData().size()).isEqualTo(2048);
    // The same call once more: the reply comes from its record.
    Request.Builder again = server.log.get(server.log.size() - 1).getRequest().toBuilder();
    assertThat(server.apply(client.entry(again, client.sequence))).isEqualTo(appended);
  }

  @Test
  void shouldGiveBackOnCloseWhatWasNotUsed() {
    long free = server.free();
    OpenedFile opened = client.opened("/f");
    client.grant(opened, 5L << 20);
    assertThat(server.free()).isEqualTo(free - (5L << 20));
    client.closeInline(opened, "data");
    assertThat(server.free()).isEqualTo(free);
    assertThat(client.info("/f").getUnderConstruction()).isFalse();
    assertThat(server.machine.leases()).isEmpty();
  }

  @Test
  void shouldQuarantineUnusedGrantsWhoseWritesMayNotHaveCompleted() {
    long free = server.free();
    OpenedFile opened = client.opened("/f");
    client.granted(opened, 1);
    client.committed(commit(opened).setClose(true));
    assertThat(server.free()).isEqualTo(free - UNIT);
    List<Quarantined> resting = server.machine.quarantined(server.timeMs, 10);
    assertThat(resting).hasSize(1);
    assertThat(resting.get(0).grantee()).isEqualTo(client.id);
    assertThat(resting.get(0).sinceMs()).isEqualTo(server.timeMs);
    assertThat(server.machine.quarantined(server.timeMs - 1, 10)).isEmpty();
    server.freeAll();
    assertThat(server.free()).isEqualTo(free);
  }

  @Test
  void shouldLimitWhatAFileHoldsWithoutCommitting() {
    OpenedFile opened = client.opened("/f");
    for (int i = 0; i < 256; i++) {
      assertOk(client.grant(opened, 1));
    }
    assertStatus(client.grant(opened, 1), Status.INVALID_ARGUMENT);
    client.committed(Harness.commit(opened).setClose(true).setAllWritesCompleted(true));
    assertOk(client.grant(client.opened("/g"), 1));
  }

  @Test
  void shouldGoOnGrantingToAWriterThatGivesExtentsUp() {
    OpenedFile opened = client.opened("/f");
    long free = server.free();
    List<Extent> held = new ArrayList<>();
    for (int i = 0; i < 600; i++) {
      GrantExtents.Builder request = GrantExtents.newBuilder().setBytes(1);
      if (held.size() == 250) {
        request.addAllUnused(held.subList(0, 100)).addAllLeft(held.subList(100, 228));
        Reply reply = client.grant(opened, request);
        held.subList(0, 228).clear();
        held.addAll(assertOk(reply).getGrants().getExtentsList());
        server.freeAll();
      } else {
        held.addAll(assertOk(client.grant(opened, request)).getGrants().getExtentsList());
      }
    }
    client.committed(Harness.commit(opened).setClose(true).setAllWritesCompleted(true));
    assertThat(server.free()).isEqualTo(free);
  }

  @Test
  void shouldFreeAtOnceWhatWasNotUsedAndKeepWhatMayStillBeWritten() {
    long free = server.free();
    OpenedFile opened = client.opened("/f");
    Extent unused = client.granted(opened, 1);
    Extent left = client.granted(opened, 1);
    Extent committed = client.granted(opened, 1);
    client.committed(commit(opened).addExtents(written(committed, 0, 100)).setLength(100));
    OpenedFile other = client.opened("/other");
    Extent foreign = client.granted(other, 1);
    Extent former = foreign.toBuilder().setGeneration(unused.getGeneration()).build();
    GrantExtents.Builder request =
        GrantExtents.newBuilder()
            .setBytes(1)
            .addUnused(unused)
            .addUnused(unused)
            .addUnused(committed)
            .addLeft(left)
            .addLeft(foreign)
            .addLeft(former)
            .addLeft(Extent.getDefaultInstance());
    assertOk(client.grant(opened, request));
    assertThat(server.free()).isEqualTo(free - 4 * UNIT);
    assertThat(server.machine.quarantined(server.timeMs, 10))
        .extracting(Quarantined::grantee)
        .containsExactly(client.id);
    assertStatus(
        client.commit(commit(opened).addExtents(written(left, 100, 5)).setLength(105)),
        Status.STALE_VERSION);
    client.committed(commit(other).addExtents(written(foreign, 0, 100)).setLength(100));
  }

  @Test
  void shouldCloseAnAbandonedFileAtWhateverIsCommitted() {
    OpenedFile opened = client.opened("/f");
    Extent grant = client.granted(opened, 1);
    client.committed(
        Harness.commit(opened).addExtents(Harness.written(grant, 0, 100)).setLength(100));
    assertStatus(
        client.commit(Harness.commit(opened).setLength(7).setClose(true)), Status.INVALID_ARGUMENT);
    assertStatus(client.commit(Harness.commit(opened).setAbandon(true)), Status.INVALID_ARGUMENT);
    FileInfo closed = client.committed(Harness.commit(opened).setClose(true).setAbandon(true));
    assertThat(closed.getLength()).isEqualTo(100);
    assertThat(client.info("/f").getUnderConstruction()).isFalse();
  }

  @Test
  void shouldWaitForTheWriterThatLostTheExtentWhateverALaterOneDid() {
    OpenedFile opened = client.opened("/f");
    Extent grant = client.granted(opened, 1);
    client.committed(
        Harness.commit(opened).addExtents(Harness.written(grant, 0, 100)).setLength(100));
    assertOk(other.recoverLease("/f"));
    OpenedFile appended = other.append("/f").getOpenedFile();
    other.committed(Harness.commit(appended).setLength(100).setClose(true));
    assertOk(client.delete("/f", false));
    while (server.machine.reclaimPending()) {
      server.reclaim(100);
    }
    assertThat(server.machine.quarantined(Long.MAX_VALUE, 10))
        .extracting(Quarantined::grantee)
        .containsExactly(client.id);
  }

  // ---- append, leases ---------------------------------------------------------------------------

  @Test
  void shouldGoOnInThePartlyFilledLastExtent() {
    OpenedFile opened = client.opened("/f");
    Extent grant = client.granted(opened, 1);
    Extent committed = written(grant, 0, 1000);
    client.committed(
        commit(opened)
            .addExtents(committed)
            .setLength(1000)
            .setClose(true)
            .setAllWritesCompleted(true));
    OpenedFile again = other.append("/f").getOpenedFile();
    assertThat(again.getLastExtent())
        .isEqualTo(committed.toBuilder().setGrant(again.getLeaseEpoch()).build());
    assertThat(again.getLeaseEpoch()).isGreaterThan(opened.getLeaseEpoch());
    other.committed(
        commit(again)
            .addExtents(written(again.getLastExtent(), 0, 1500))
            .setLength(1500)
            .setClose(true));
    assertThat(client.info("/f").getLength()).isEqualTo(1500);
  }

  @Test
  void shouldNotGoOnWhereAnEarlierWritersBytesMayStillLand() {
    OpenedFile opened = client.opened("/f");
    Extent grant = client.granted(opened, 1);
    client.committed(
        commit(opened).addExtents(written(grant, 0, 1000)).setLength(1000).setClose(true));
    OpenedFile again = other.append("/f").getOpenedFile();
    assertThat(again.hasLastExtent()).isFalse();
    assertStatus(
        other.commit(commit(again).addExtents(written(grant, 0, 1500)).setLength(1500)),
        Status.STALE_VERSION);
    Extent next = other.granted(again, 1);
    other.committed(commit(again).addExtents(written(next, 1000, 500)).setLength(1500));
    assertThat(client.extents("/f"))
        .containsExactly(written(grant, 0, 1000), written(next, 1000, 500));
  }

  @Test
  void shouldHaveOneWriterAFile() {
    client.opened("/f");
    assertStatus(other.append("/f"), Status.LEASE_HELD);
    assertStatus(client.append("/f"), Status.LEASE_HELD);
    assertStatus(
        other.truncate(Truncate.newBuilder().setPath("/f").setExpectedVersion(1)),
        Status.LEASE_HELD);
    client.mkdirs("/d");
    assertStatus(client.append("/d"), Status.IS_A_DIRECTORY);
    assertStatus(client.append("/none"), Status.NOT_FOUND);
  }

  @Test
  void shouldLetAnotherWriterTakeALapsedLeaseOver() {
    OpenedFile opened = client.opened("/f");
    Extent grant = client.granted(opened, 1);
    Extent unused = client.granted(opened, 1);
    client.committed(commit(opened).addExtents(written(grant, 0, 100)).setLength(100));
    server.lapsed = List.of(client.id);
    OpenedFile taken = assertOk(other.append("/f")).getOpenedFile();
    assertThat(taken.getFile().getLength()).isEqualTo(100);
    assertThat(taken.hasLastExtent()).isFalse();
    assertStatus(
        client.commit(commit(opened).addExtents(written(grant, 0, 200)).setLength(200)),
        Status.LEASE_LOST);
    assertStatus(client.grant(opened, 1), Status.LEASE_LOST);
    List<Quarantined> resting = server.machine.quarantined(Long.MAX_VALUE, 10);
    assertThat(resting).hasSize(1);
    assertThat(resting.get(0).grantee()).isEqualTo(client.id);
    assertThat(resting.get(0).range().offset()).isEqualTo(unused.getOffset());
  }

  @Test
  void shouldRecoverALeaseAtTheCommittedLength() {
    OpenedFile opened = client.opened("/f");
    Extent grant = client.granted(opened, 1);
    client.committed(commit(opened).addExtents(written(grant, 0, 100)).setLength(100));
    FileInfo before = client.info("/f");
    assertOk(other.recoverLease("/f"));
    assertOk(other.recoverLease("/f"));
    FileInfo after = client.info("/f");
    assertThat(after).isEqualTo(before.toBuilder().setUnderConstruction(false).build());
    assertStatus(client.commit(commit(opened).setLength(100)), Status.LEASE_LOST);
    // The last writer may still write past the end, so a deleted extent waits for it.
    other.delete("/f", false);
    assertThat(server.machine.quarantined(Long.MAX_VALUE, 10))
        .extracting(Quarantined::grantee)
        .containsExactly(client.id);
  }

  @Test
  void shouldKeepWritingWhileTheFileIsRenamed() {
    client.mkdirs("/d/e");
    OpenedFile opened = client.opened("/d/f");
    Extent grant = client.granted(opened, 1);
    other.rename("/d/f", "/d/e/g", false);
    other.rename("/d", "/x", false);
    client.committed(
        commit(opened).addExtents(written(grant, 0, 100)).setLength(100).setClose(true));
    assertThat(client.info("/x/e/g").getLength()).isEqualTo(100);
  }

  @Test
  void shouldRefuseTheWriterOfADeletedFile() {
    OpenedFile opened = client.opened("/f");
    Extent grant = client.granted(opened, 1);
    other.delete("/f", false);
    assertStatus(
        client.commit(commit(opened).addExtents(written(grant, 0, 100)).setLength(100)),
        Status.LEASE_LOST);
    client.mkdirs("/d");
    OpenedFile below = client.opened("/d/f");
    other.delete("/d", true);
    server.reclaimAll();
    assertStatus(client.commit(commit(below)), Status.LEASE_LOST);
  }
}
