package io.takofs.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.takofs.base.TakoException;
import io.takofs.layout.Layout;
import io.takofs.proto.Caller;
import io.takofs.proto.CommitExtents;
import io.takofs.proto.Extent;
import io.takofs.proto.OpenedFile;
import io.takofs.proto.Replica;
import io.takofs.proto.ReportReplicas;
import io.takofs.proto.Request;
import io.takofs.proto.ServerEntry;
import io.takofs.proto.Slab;
import io.takofs.proto.Status;
import io.takofs.server.store.HeapStore;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Replicas that are lost or leave are made again; the servers are scripted. */
class SlabRepairTest extends SlabRepairRig {
  @Test
  void shouldReplaceTheReplicaOfADeadServer() throws Exception {
    lead(4, 3);
    write("/file", 3, 5);
    Slab before = dataSlab();
    servers.stop(serversOf(before).get(2));
    run(9);
    assertThat(dataSlab().getClosed()).as("it may come back").isFalse();
    await(() -> dataSlab().getClosed(), 5);
    await(() -> isWhole(3), 5);
    assertThat(serversOf(dataSlab())).doesNotContain(serversOf(before).get(2));
    assertThat(rig.repair.status().getSlabsDone()).isEqualTo(1);
    assertThat(rig.repair.status().getBytesDone()).isEqualTo(5 * 65536);
    assertThat(rig.repair.status().getSlabsWaiting()).isZero();
    servers.start(serversOf(before).get(2)); // takes its memory back
    checkNoLeak(1, 2, 3, 4);
    assertThat(isWhole(3)).isTrue();
  }

  @Test
  void shouldReplaceAReplicaThatItsServerHasLost() throws Exception {
    lead(3, 2);
    write("/file", 2, 3);
    int other = serversOf(dataSlab()).get(1);
    servers.stop(other);
    run(2);
    servers.replace(other, LentSlabs.of(16));
    servers.start(other);
    await(() -> servers.copies > 0 && isWhole(2), 40);
    checkNoLeak(1, 2, 3);
  }

  /** One server does not come back, and none can take its place. */
  @Test
  void shouldReplaceWhatItCanOfTheReplicasThatAreLost() throws Exception {
    lead(3, 3);
    write("/file", 3, 4);
    Replica lost = dataSlab().getReplicas(2);
    servers.stop(1);
    servers.mark(1, ServerEntry.State.LOST);
    servers.stop(3);
    run(2);
    servers.replace(3, LentSlabs.of(16));
    servers.start(3);
    await(() -> !dataSlab().getReplicasList().contains(lost), 60);
    assertThat(serversOf(dataSlab())).containsExactly(1, 2, 3);
  }

  @Test
  void shouldCloseAtOnceWhatHasALostReplicaThoughOthersAreSilent() throws Exception {
    lead(5, 2);
    write("/file", 2, 3);
    List<Integer> keeping = serversOf(dataSlab());
    int other = keeping.get(1);
    servers.stop(other);
    run(2);
    for (int server = 2; server <= 5; server++) {
      if (!keeping.contains(server)) {
        servers.stop(server);
      }
    }
    run(2);
    servers.replace(other, LentSlabs.of(16));
    servers.start(other);
    await(() -> dataSlab().getClosed(), 3);
  }

  @Test
  void shouldRepairOnlyWhenItIsForcedWhileManyAreSilent() throws Exception {
    lead(5, 2);
    write("/file", 2, 3);
    int lost = serversOf(dataSlab()).get(1);
    int other = IntStream.rangeClosed(2, 5).filter(id -> id != lost).findFirst().orElseThrow();
    servers.stop(lost);
    servers.stop(other);
    run(60);
    assertThat(servers.copies).isZero();
    assertThat(rig.repair.status().getWaitsForList()).containsExactlyInAnyOrder(lost, other);
    Caller stranger = Caller.newBuilder().setUser("stranger").build();
    assertThatThrownBy(() -> rig.repair.force(stranger))
        .isInstanceOfSatisfying(
            TakoException.class, e -> assertThat(e.status()).isEqualTo(Status.PERMISSION_DENIED))
        .hasMessageContaining("stranger");
    run(5);
    assertThat(servers.copies).isZero();
    assertThat(rig.repair.force(HousekeepingRig.ROOT).getGoesWithoutList())
        .containsExactlyInAnyOrder(lost, other);
    await(() -> !serversOf(dataSlab()).contains(lost) && isWhole(2), 10);
    assertThat(serversOf(dataSlab())).doesNotContain(other);
    assertThat(rig.repair.status().getWaitsForList()).isEmpty();
    servers.start(lost);
    servers.start(other);
    run(5);
    assertThat(rig.repair.status().getGoesWithoutList()).isEmpty();
    checkNoLeak(1, 2, 3, 4, 5);
  }

  /** It is no repair: what was closed because its server was silent can be written again. */
  @Test
  void shouldOpenAgainWhatIsThereThoughOthersAreSilent() throws Exception {
    lead(4, 1);
    write("/file", 1, 3);
    int keeping = serversOf(dataSlab()).get(0);
    servers.stop(keeping);
    await(() -> dataSlab().getClosed(), 20);
    IntStream.rangeClosed(1, 4).filter(id -> id != keeping).limit(2).forEach(servers::stop);
    run(20);
    servers.start(keeping);
    await(() -> !dataSlab().getClosed(), 3);
  }

  @Test
  void shouldReturnWhatManyClientsMayStillWriteInRequestsThatFitASlot() throws Exception {
    lead(2, 2);
    int slabs = 13;
    List<Long> clients = new ArrayList<>();
    List<OpenedFile> files = new ArrayList<>();
    for (int i = 0; i < 250; i++) {
      client = rig.openSession();
      clients.add(client);
      files.add(create("/file" + i, 2));
    }
    for (int i = 0; i < slabs * clients.size(); i++) {
      client = clients.get(i % clients.size());
      grant(files.get(i % files.size()));
    }
    servers.stop(2);
    servers.add(LentSlabs.of(40));
    await(() -> rig.machine.leftReplicas().all().size() >= slabs, 120);
    servers.start(2);
    await(() -> rig.machine.leftReplicas().all().isEmpty(), 60);
    assertThat(servers.largestReturn).isBetween(4096, Layout.RPC_REQUEST_SLOT_SIZE / 2);
  }

  @Test
  void shouldKeepClosedWhatHasNoOtherServer() throws Exception {
    lead(3, 3);
    write("/file", 3, 2);
    servers.stop(3);
    await(() -> dataSlab().getClosed(), 15);
    run(20);
    assertThat(serversOf(dataSlab())).as("none leaves without another").containsExactly(1, 2, 3);
    assertThat(rig.repair.status().getSlabsWaiting()).isEqualTo(1);
    assertThat(rig.repair.status().getBytesLeft()).isEqualTo(2 * 65536);
    servers.start(3);
    await(() -> isWhole(3), 5);
    assertThat(servers.copies).isZero();
  }

  @Test
  void shouldDoNothingWhileMostServersAreSilent() throws Exception {
    lead(5, 3);
    write("/file", 3, 2);
    servers.stop(2);
    servers.stop(3);
    run(60);
    assertThat(dataSlab().getClosed()).isFalse();
    servers.mark(3, ServerEntry.State.LOST); // so it is known what became of it
    await(() -> servers.copies > 0 && isWhole(3), 10);
  }

  @Test
  void shouldTakeAnotherTargetWhenOneDies() throws Exception {
    lead(5, 2);
    servers.copied = 0;
    write("/file", 2, 4);
    List<Integer> before = serversOf(dataSlab());
    servers.stop(before.get(1));
    await(() -> servers.copies > 0, 20);
    int target =
        IntStream.rangeClosed(1, 5)
            .filter(i -> !before.contains(i) && !servers.zone(i).held().isEmpty())
            .findFirst()
            .orElseThrow();
    servers.mark(before.get(1), ServerEntry.State.LOST);
    servers.stop(target);
    run(15);
    servers.copied = 1;
    await(() -> isWhole(2), 60);
    assertThat(serversOf(dataSlab())).doesNotContain(target);
    servers.start(target);
    run(40);
    assertThat(servers.zone(target).held()).as("returned when it is back").isEmpty();
  }

  @Test
  void shouldTakeAnotherTargetWhenOneLosesItsPool() throws Exception {
    lead(4, 2);
    servers.copied = 0;
    write("/file", 2, 4);
    List<Integer> before = serversOf(dataSlab());
    servers.stop(before.get(1));
    await(() -> servers.copies > 0, 20);
    int target = servers.targets.iterator().next();
    servers.mark(target, ServerEntry.State.LOST);
    servers.stop(target);
    servers.copied = 1;
    await(() -> isWhole(2), 60);
    assertThat(serversOf(dataSlab())).doesNotContain(target, before.get(1));
  }

  @Test
  void shouldTakeAnotherTargetWhenOneCannotCopy() throws Exception {
    lead(4, 2);
    write("/file", 2, 4);
    servers.copied = 0;
    servers.stop(serversOf(dataSlab()).get(1));
    await(() -> servers.copies > 0, 20);
    run(45);
    assertThat(rig.repair.status().getSlabsCopiedNow()).isEqualTo(1);
    assertThat(servers.targets).hasSize(2).doesNotContainAnyElementsOf(serversOf(dataSlab()));
    servers.copied = 1;
    await(() -> isWhole(2), 10);
  }

  @Test
  void shouldGoOnWhenASourceDies() throws Exception {
    lead(4, 3);
    write("/file", 3, 6);
    servers.copied = 1;
    List<Integer> before = serversOf(dataSlab());
    servers.mark(before.get(2), ServerEntry.State.LOST);
    servers.stop(before.get(2));
    await(() -> servers.copies > 2, 20);
    servers.mark(before.get(1), ServerEntry.State.LOST);
    servers.stop(before.get(1));
    servers.add(LentSlabs.of(16));
    await(() -> isWhole(3) && !serversOf(dataSlab()).contains(before.get(1)), 30);
    assertThat(serversOf(dataSlab())).doesNotContain(before.get(2));
    assertThat(rig.repair.status().getSlabsDone()).isEqualTo(2);
  }

  @Test
  void shouldBeginAgainWhenTheLeaderIsStartedAtAnyStep() throws Exception {
    closeASlabOfFourExtents();
    int steps = 0;
    for (; !isWhole(3); steps++) {
      assertThat(steps).isLessThan(1000);
      turn();
    }
    assertThat(steps).as("a lease, four copies, a switch").isGreaterThan(4);
    for (int stop = 0; stop <= steps; stop++) {
      closeASlabOfFourExtents();
      for (int i = 0; i < stop; i++) {
        turn();
      }
      restart();
      await(() -> isWhole(3), 90);
    }
  }

  /** One of its three servers is gone, and each question copies one extent. */
  private void closeASlabOfFourExtents() throws TakoException {
    lead(4, 3);
    write("/file", 3, 4);
    servers.copied = 1;
    servers.stop(serversOf(dataSlab()).get(2));
    await(() -> dataSlab().getClosed(), 20);
  }

  @Test
  void shouldRepairAllSlabsOfAServer() throws Exception {
    lead(4, 3);
    for (int i = 0; i < 4; i++) {
      write("/three" + i, 3, 100);
      write("/two" + i, 2, 100);
    }
    int gone = serversOf(dataSlab()).get(1);
    servers.copied = 10;
    servers.stop(gone);
    servers.mark(gone, ServerEntry.State.LOST);
    await(() -> rig.repair.status().getSlabsWaiting() > 0, 10);
    await(() -> isWhole(3) && rig.repair.status().getSlabsWaiting() == 0, 60);
    assertThat(rig.machine.slabs().all()).noneMatch(slab -> serversOf(slab).contains(gone));
    assertThat(rig.repair.status().getBytesLeft()).isZero();
  }

  @Test
  void shouldFillSlabsOfSeveralServersAtATimeWithinTheLimit() throws Exception {
    lead(4, 3);
    for (int i = 0; i < 4; i++) {
      write("/three" + i, 3, 100);
      write("/two" + i, 2, 100);
    }
    int gone = serversOf(dataSlab()).get(1);
    servers.copied = 0;
    servers.stop(gone);
    servers.mark(gone, ServerEntry.State.LOST);
    await(() -> servers.limits.size() >= 2, 20);
    run(2);
    assertThat(rig.repair.status().getSlabsCopiedNow()).isGreaterThan(servers.limits.size());
    long limit = rig.repair.status().getBytesPerSecondMax();
    assertThat(servers.limits.values().stream().mapToLong(each -> each).sum())
        .isBetween(limit / 2, limit);
  }

  @Test
  void shouldAskSeldomWhileNothingComes() throws Exception {
    lead(4, 2);
    write("/file", 2, 4);
    servers.copied = 0;
    servers.stop(serversOf(dataSlab()).get(1));
    await(() -> servers.copies > 0, 20);
    int before = servers.copies;
    run(10);
    assertThat(servers.copies - before).isBetween(10, 510);
  }

  @Test
  void shouldWidenASlabWhenThereAreServers() throws Exception {
    servers = new SlowServers(LentSlabs.of(16));
    rig = new HousekeepingRig(new HeapStore(Long.MAX_VALUE), servers, 3, 1);
    client = rig.openSession();
    run(1);
    write("/early", 3, 3);
    assertThat(serversOf(dataSlab())).containsExactly(1);
    run(2);
    assertThat(isWhole(1)).as("it is written meanwhile").isTrue();
    servers.add(LentSlabs.of(16));
    await(() -> isWhole(2), 10);
    servers.add(LentSlabs.of(16));
    await(() -> isWhole(3), 10);
    assertThat(serversOf(dataSlab())).containsExactly(1, 2, 3);
    checkNoLeak(1, 2, 3);
  }

  @Test
  void shouldNotWidenASlabWithAServerThatAWriterCannotUse() throws Exception {
    lead(3, 3);
    client = rig.openSession(3);
    write("/one", 1, 1);
    assertThat(serversOf(dataSlab())).containsExactly(3);
    ReportReplicas.Report.Builder report =
        ReportReplicas.Report.newBuilder().setSlab(written).setServer(3);
    servers.stop(3);
    run(2);
    write("/three", 3, 1);
    rig.leases.report(client, ReportReplicas.newBuilder().addReports(report).build());
    servers.start(3);
    run(20);
    assertThat(dataSlab().getClosed()).isFalse();
    assertThat(serversOf(dataSlab())).containsExactly(1, 2);
    await(() -> isWhole(3), 20);
    assertThat(serversOf(dataSlab())).containsExactly(1, 2, 3);
  }

  @Test
  void shouldEmptyAServerThatLeaves() throws Exception {
    lead(3, 2);
    write("/a", 2, 3);
    write("/b", 1, 3);
    servers.mark(2, ServerEntry.State.DECOMMISSIONING);
    await(
        () ->
            isWhole(2)
                && rig.machine.slabs().all().stream()
                    .noneMatch(slab -> serversOf(slab).contains(2)),
        30);
    await(() -> servers.emptied.contains(2), 40);
    assertThat(servers.zone(2).held()).isEmpty();
    assertThat(servers.emptied).containsExactly(2);
  }

  @Test
  void shouldOpenWhatCannotLeave() throws Exception {
    lead(2, 2);
    write("/a", 2, 3);
    servers.mark(2, ServerEntry.State.DECOMMISSIONING);
    run(20);
    assertThat(isWhole(2)).isTrue();
    assertThat(serversOf(dataSlab())).containsExactly(1, 2);
    assertThat(servers.emptied).isEmpty();
    assertThat(rig.repair.status().getSlabsWithoutServer()).isEqualTo(1);
    assertThat(rig.repair.status().getSlabsWithoutRoom()).isZero();
    servers.mark(2, ServerEntry.State.UP);
    run(2);
    assertThat(rig.repair.status().getSlabsWithoutServer()).isZero();
  }

  @Test
  void shouldSayThatServersAreFullUntilOneHasRoom() throws Exception {
    LentSlabs[] zones = {LentSlabs.of(1), LentSlabs.of(1), LentSlabs.of(1)};
    lead(2, zones, "rack", "rack", "rack");
    write("/kept", 2, 3);
    long kept = written;
    List<Integer> keeping = serversOf(dataSlab());
    int other = 6 - keeping.get(0) - keeping.get(1);
    write("/other", 1, 3);
    assertThat(serversOf(dataSlab())).containsExactly(other);
    int leaving = keeping.get(1);
    servers.mark(leaving, ServerEntry.State.DECOMMISSIONING);
    await(() -> rig.repair.status().getSlabsWithoutRoom() == 1, 20);
    for (int i = 0; i < 1000; i++) {
      turn();
      assertThat(rig.repair.status().getSlabsWithoutRoom()).isEqualTo(1);
      assertThat(rig.repair.status().getSlabsWithoutServer()).isZero();
    }
    delete("/other");
    await(() -> !serversOf(slab(kept)).contains(leaving) && isWhole(2), 60);
    run(2);
    assertThat(rig.repair.status().getSlabsWithoutRoom()).isZero();
  }

  /** There is room for one of two slabs, and in the first one deleted files rest only. */
  @Test
  void shouldCopyWhatHasBytesFirst() throws Exception {
    LentSlabs[] zones = {LentSlabs.of(2), LentSlabs.of(2), LentSlabs.of(1)};
    lead(2, zones, "rack", "rack", "rack");
    servers.stop(3);
    run(12);
    write("/f0", 2, 1);
    Slab gone = dataSlab();
    int files = 1;
    for (; written == gone.getId(); files++) {
      write("/f" + files, 2, 1);
    }
    servers.start(3);
    run(2);
    servers.stop(2);
    run(9);
    for (int i = 0; i < files - 1; i++) {
      delete("/f" + i);
    }
    assertThat(rig.machine.extentsIn(gone.getId())).isEmpty();
    await(() -> serversOf(dataSlab()).equals(List.of(1, 3)), 10);
    assertThat(serversOf(slab(gone.getId()))).isEqualTo(List.of(1, 2));
  }

  /** A slab has no bytes when its copy is to begin, and gets some while it waits for a server. */
  @Test
  void shouldNotLeaveToTheLastWhatGotBytesMeanwhile() throws Exception {
    lead(3, 3);
    servers.stop(3);
    run(12);
    OpenedFile file = create("/file", 3);
    Extent granted = grantMebibyte(file);
    fill("/others", granted.getSlab());
    long last = 0;
    for (int i = 0; i < 8; i++) {
      last = writeSlab("/f" + i);
    }
    servers.copied = 0;
    servers.start(3);
    run(2);
    commit(file, List.of(granted));
    run(2);
    servers.copied = 1;
    long after = last;
    await(() -> serversOf(slab(after)).contains(3), 60);
    assertThat(serversOf(slab(granted.getSlab()))).contains(3);
  }

  /** Slabs that somebody else removes while they wait for a server must not be in the way. */
  @Test
  void shouldGoOnAfterWaitingSlabsThatAreGone() throws Exception {
    lead(3, 80, "rack", "rack", "rack");
    servers.stop(3);
    run(12);
    for (int i = 0; i < 34; i++) { // some are copied, and the others wait before all that follow
      writeSlab("/f" + i);
    }
    for (int i = 0; i < 40; i++) {
      fill("/gone" + i, grantMebibyte(create("/goes" + i, 3)).getSlab());
    }
    long last = writeSlab("/last");
    servers.copied = 0;
    servers.start(3);
    run(5);
    for (int i = 0; i < 40; i++) {
      delete("/gone" + i);
      delete("/goes" + i);
    }
    // Each slab that goes makes room for one of a single copy on either server.
    await(() -> makeRoom(1, Set.of(3), 2L * 38 * Layout.SLAB_SIZE), 60);
    servers.copied = Integer.MAX_VALUE;
    await(() -> serversOf(slab(last)).equals(List.of(1, 2, 3)), 60);
  }

  private boolean makeRoom(int copies, Set<Integer> avoided, long bytes) {
    try {
      return rig.supply.makeRoom(copies, 0, avoided, bytes);
    } catch (TakoException e) {
      throw new AssertionError(e);
    }
  }

  /** The slab of a file of 1 MiB, the rest of which is granted to another file. */
  private long writeSlab(String path) throws TakoException {
    OpenedFile file = create(path, 3);
    Extent granted = grantMebibyte(file);
    commit(file, List.of(granted));
    fill(path + "-rest", granted.getSlab());
    return granted.getSlab();
  }

  /** Grants extents to a new file until {@code slab} is full, which is the lowest that is not. */
  private void fill(String path, long slab) throws TakoException {
    OpenedFile file = create(path, 3);
    long free = rig.machine.slabs().freeBytesOf(slab);
    while (free > 0) {
      grant(file, Math.min(free, Layout.EXTENT_SIZE_MAX));
      free = rig.machine.slabs().freeBytesOf(slab);
    }
  }

  private Extent grantMebibyte(OpenedFile file) throws TakoException {
    return grant(file, Layout.EXTENT_SIZE_MAX);
  }

  @Test
  void shouldWaitForAServerUntilOneIsAdded() throws Exception {
    lead(3, 3);
    write("/file", 3, 3);
    servers.stop(3);
    run(20);
    assertThat(rig.repair.status().getSlabsWithoutServer()).isEqualTo(1);
    servers.start(3);
    run(5);
    assertThat(rig.repair.status().getSlabsWithoutServer()).isZero();
  }

  @Test
  void shouldRemoveASlabThatBecomesEmptyWhileItIsCopied() throws Exception {
    lead(4, 3);
    write("/file", 3, 4);
    servers.copied = 0;
    int gone = serversOf(dataSlab()).get(2);
    servers.mark(gone, ServerEntry.State.LOST);
    await(() -> servers.copies > 0, 20);
    delete("/file");
    await(() -> dataSlab() == null, 60);
    assertThat(rig.repair.status().getBytesDone()).isZero();
    checkNoLeak(IntStream.rangeClosed(1, 4).filter(i -> i != gone).toArray());
  }

  @Test
  void shouldRemoveASlabThatBecomesEmptyWhileItLacksAReplica() throws Exception {
    lead(3, 3);
    write("/file", 3, 4);
    servers.mark(3, ServerEntry.State.LOST);
    servers.stop(3);
    await(() -> dataSlab().getClosed(), 20);
    delete("/file");
    await(() -> dataSlab() == null, 60);
    checkNoLeak(1, 2);
  }

  @Test
  void shouldReplaceAReplicaWithWrongBytes() throws Exception {
    lead(3, 3);
    write("/file", 3, 4);
    Slab slab = dataSlab();
    Replica bad = slab.getReplicas(1);
    spoil(slab, bad, 2);
    ReportReplicas reports = wrongBytes(slab, bad.getServer());
    rig.repair.report(reports);
    await(() -> servers.copies > 0 && isWhole(3), 20);
    assertThat(dataSlab().getReplicasList()).doesNotContain(bad);
    List<Replica> good = dataSlab().getReplicasList();
    rig.repair.report(reports); // of another reader, which had not heard of the new replica
    run(10);
    assertThat(dataSlab().getReplicasList()).isEqualTo(good);
    checkNoLeak(1, 2, 3);
  }

  /** A copy that is known to be wrong stays so while none can be made. */
  @Test
  void shouldReplaceAReplicaWithWrongBytesAfterTargetsFailed() throws Exception {
    lead(3, 3);
    write("/file", 3, 4);
    Slab slab = dataSlab();
    Replica bad = slab.getReplicas(1);
    spoil(slab, bad, 2);
    servers.copied = 0;
    rig.repair.report(wrongBytes(slab, bad.getServer()));
    await(() -> servers.copies > 0, 20);
    run(60);
    assertThat(rig.repair.status().getSlabsWaiting() + rig.repair.status().getSlabsCopiedNow())
        .isEqualTo(1);
    assertThat(dataSlab().getClosed()).as("it can be written meanwhile").isFalse();
    servers.copied = 10;
    await(() -> !dataSlab().getReplicasList().contains(bad) && isWhole(3), 90);
    checkNoLeak(1, 2, 3);
  }

  /** An extent that is wrong everywhere cannot be copied, and the others serve meanwhile. */
  @Test
  void shouldLeaveASlabOfWhichNoReplicaIsGood() throws Exception {
    lead(3, 2);
    write("/file", 2, 4);
    Slab slab = dataSlab();
    slab.getReplicasList().forEach(replica -> spoil(slab, replica, 2));
    rig.repair.report(wrongBytes(slab, slab.getReplicas(0).getServer()));
    await(() -> servers.copies > 0, 20);
    run(60);
    int before = servers.copies;
    run(300);
    assertThat(servers.copies).isEqualTo(before);
    assertThat(dataSlab().getClosed()).isFalse();
    assertThat(dataSlab().getReplicasList()).isEqualTo(slab.getReplicasList());
  }

  private static ReportReplicas wrongBytes(Slab slab, int... servers) {
    ReportReplicas.Builder reports = ReportReplicas.newBuilder();
    for (int server : servers) {
      reports.addReports(
          ReportReplicas.Report.newBuilder()
              .setSlab(slab.getId())
              .setVersion(slab.getVersion())
              .setServer(server)
              .setWrongBytes(true));
    }
    return reports.build();
  }

  /** The server of one of them is full, and there is no other one. */
  @Test
  void shouldReplaceWhatItCanOfTheReplicasWithWrongBytes() throws Exception {
    LentSlabs[] zones = {LentSlabs.of(1), LentSlabs.of(16), LentSlabs.of(16)};
    lead(3, zones, "rack", "rack", "rack");
    write("/file", 3, 4);
    Slab slab = dataSlab();
    assertThat(slab.getReplicasList()).extracting(Replica::getServer).containsExactly(1, 2, 3);
    rig.repair.report(wrongBytes(slab, 1, 3));
    await(() -> !dataSlab().getReplicasList().contains(slab.getReplicas(2)), 20);
    assertThat(serversOf(dataSlab())).containsExactly(1, 2, 3);
    assertThat(dataSlab().getReplicasList()).contains(slab.getReplicas(0), slab.getReplicas(1));
    checkNoLeak(1, 2, 3);
  }

  /** The server of the other one is dead, and nothing can come instead of its replica. */
  @Test
  void shouldReplaceAReplicaWithWrongBytesBesideOneThatIsLost() throws Exception {
    lead(3, 3);
    write("/file", 3, 4);
    servers.stop(1);
    await(() -> dataSlab().getClosed(), 15);
    Slab slab = dataSlab();
    rig.repair.report(wrongBytes(slab, 3));
    await(() -> !dataSlab().getReplicasList().contains(slab.getReplicas(2)), 20);
    assertThat(serversOf(dataSlab())).containsExactly(1, 2, 3);
  }

  @Test
  void shouldReplaceAnyNumberOfReplicasWithWrongBytes() throws Exception {
    lead(3, 2);
    write("/file", 2, 2);
    for (int i = 0; i < 80; i++) {
      Replica bad = dataSlab().getReplicas(i % 2);
      rig.repair.report(wrongBytes(dataSlab(), bad.getServer()));
      await(() -> !dataSlab().getReplicasList().contains(bad), 30);
    }
    await(() -> isWhole(2), 20);
    checkNoLeak(1, 2, 3);
  }

  @Test
  void shouldWaitForAnotherRackThatIsBusy() throws Exception {
    lead(4, 2);
    for (int i = 0; i < 12; i++) {
      write("/file" + i, 2, 60);
    }
    servers.place(4, "/elsewhere");
    servers.mark(2, ServerEntry.State.LOST);
    servers.stop(2);
    servers.copied = 20;
    List<Slab> lost =
        rig.machine.slabs().all().stream()
            .filter(slab -> serversOf(slab).contains(2) && !serversOf(slab).contains(4))
            .filter(slab -> !rig.machine.slabs().isWhollyFree(slab.getId()))
            .toList();
    assertThat(lost).isNotEmpty();
    await(() -> rig.repair.status().getSlabsCopiedNow() > 0, 20);
    await(() -> isWhole(2) && rig.repair.status().getSlabsWaiting() == 0, 60);
    for (Slab slab : lost) {
      assertThat(serversOf(slab(slab.getId()))).contains(4);
    }
  }

  @Test
  void shouldPreferAnotherRack() throws Exception {
    lead(5, 2);
    write("/file", 2, 1);
    List<Integer> before = serversOf(dataSlab());
    List<Integer> others =
        IntStream.rangeClosed(1, 5).filter(i -> !before.contains(i)).boxed().toList();
    servers.place(others.get(2), "/elsewhere");
    servers.mark(before.get(1), ServerEntry.State.LOST);
    await(() -> servers.copies > 0 && isWhole(2), 20);
    assertThat(serversOf(dataSlab())).contains(others.get(2));
  }

  @Test
  void shouldTellAStoppedGrantFromOneThatLives() throws Exception {
    lead(4, 3);
    OpenedFile file = create("/open", 3);
    Extent grant = grant(file);
    servers.stop(serversOf(slab(grant.getSlab())).get(2));
    await(() -> slab(grant.getSlab()).getClosed(), 20);
    assertThat(commit(file, grant)).isEqualTo(Status.STALE_VERSION);
    await(() -> !slab(grant.getSlab()).getClosed(), 20);
    assertThat(commit(file, grant)).as("for good").isEqualTo(Status.STALE_VERSION);
    assertThat(commit(file, grant(file))).isEqualTo(Status.OK);
  }

  /** One byte. */
  private Status commit(OpenedFile file, Extent grant) throws TakoException {
    CommitExtents.Builder commit = commitOf(file, grant);
    return rig.execute(client, Request.newBuilder().setCommitExtents(commit).build()).getStatus();
  }

  private static CommitExtents.Builder commitOf(OpenedFile file, Extent grant) {
    return CommitExtents.newBuilder()
        .setFileId(file.getFile().getId())
        .setLeaseEpoch(file.getLeaseEpoch())
        .addExtents(grant.toBuilder().clearGrant().setLength(1))
        .setLength(1);
  }

  @Test
  void shouldCountTheFilesThatNobodyCanRead() throws Exception {
    lead(4, 1);
    write("/lost", 1, 3);
    int gone = serversOf(dataSlab()).get(0);
    servers.stop(gone);
    await(() -> rig.repair.files().getMissing() == 1, 20);
    servers.start(gone);
    await(() -> rig.repair.files().getMissing() == 0, 5);
    for (int i = 0; i < 20; i++) { // more often than one tick reads slabs
      servers.stop(gone);
      await(() -> rig.repair.files().getMissing() == 1, 20);
      servers.start(gone);
      await(() -> rig.repair.files().getMissing() == 0, 5);
    }
    servers.stop(gone);
    await(() -> rig.repair.files().getMissing() == 1, 20);
    delete("/lost");
    servers.start(gone);
    await(() -> rig.repair.files().getMissing() == 0, 5);
  }

  /** So many are silent that none is repaired. */
  @Test
  void shouldCountTheFilesThatNobodyCanReadWhileMostServersAreSilent() throws Exception {
    lead(3, 1);
    write("/lost", 1, 3);
    while (serversOf(dataSlab()).contains(1)) {
      write("/lost" + written, 1, 255);
    }
    servers.stop(2);
    servers.stop(3);
    await(() -> rig.repair.files().getMissing() > 0, 20);
    assertThat(rig.repair.status().getWaitsForList()).contains(2, 3);
    servers.start(2);
    servers.start(3);
    await(() -> rig.repair.files().getMissing() == 0, 5);
  }
}
