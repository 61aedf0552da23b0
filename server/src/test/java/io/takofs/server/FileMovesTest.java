package io.takofs.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.takofs.proto.Extent;
import io.takofs.proto.GetExtents;
import io.takofs.proto.OpenedFile;
import io.takofs.proto.RepairStatus;
import io.takofs.proto.Replica;
import io.takofs.proto.Request;
import io.takofs.proto.ServerEntry;
import io.takofs.proto.SetAttributes;
import io.takofs.proto.Slab;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Files get another number of copies; the servers are scripted. */
class FileMovesTest extends SlabRepairRig {
  private void setReplication(String path, int copies) throws Exception {
    Request request =
        Request.newBuilder()
            .setSetAttributes(SetAttributes.newBuilder().setPath(path).setReplication(copies))
            .build();
    TestClient.ok(rig.execute(client, request));
  }

  private List<Extent> extents(String path) {
    Request request =
        Request.newBuilder().setGetExtents(GetExtents.newBuilder().setPath(path)).build();
    return rig.machine.query(HousekeepingRig.ROOT, request).getExtentMap().getExtentsList();
  }

  private RepairStatus status() {
    return rig.moves.status(rig.repair.status());
  }

  /** Whether all extents have so many copies, each with the bytes. */
  private boolean has(String path, int copies) {
    List<Extent> extents = extents(path);
    assertThat(extents).isNotEmpty();
    for (Extent extent : extents) {
      List<Replica> replicas = slab(extent.getSlab()).getReplicasList();
      for (Replica replica : replicas) {
        assertThat(servers.zone(replica.getServer()).has(replica.getLease(), extent)).isTrue();
      }
      if (replicas.size() != copies) {
        return false;
      }
    }
    return true;
  }

  private void checkNothingIsLeft(int... living) throws Exception {
    assertThat(rig.machine.moves().copierGrants()).isEmpty();
    assertThat(rig.machine.moves().files()).isZero();
    run(70);
    assertThat(rig.machine.quarantinedCount()).isZero();
    checkNoLeak(living);
  }

  @Test
  void shouldMakeMoreAndFewerCopiesOfAFile() throws Exception {
    lead(3, 3);
    write("/file", 1, 40);
    for (int copies : new int[] {3, 1, 2, 3, 2, 1}) {
      setReplication("/file", copies);
      assertThat(status().getFilesToMove()).isEqualTo(1);
      await(() -> status().getFilesToMove() == 0, 20);
      assertThat(has("/file", copies)).isTrue();
    }
    assertThat(status().getFilesMoved()).isEqualTo(6);
    assertThat(status().getBytesMoved()).isEqualTo(6 * 40 * 65536);
    assertThat(status().getMovesWait()).isEmpty();
    checkNothingIsLeft(1, 2, 3);
  }

  @Test
  void shouldMoveManyFiles() throws Exception {
    lead(3, 3);
    for (int i = 0; i < 50; i++) {
      write("/file" + i, 1, 2);
    }
    for (int i = 0; i < 50; i++) {
      setReplication("/file" + i, 2);
    }
    await(() -> status().getFilesToMove() == 0, 60);
    for (int i = 0; i < 50; i++) {
      assertThat(has("/file" + i, 2)).isTrue();
    }
    checkNothingIsLeft(1, 2, 3);
  }

  @Test
  void shouldMoveElsewhereWhenATargetLosesItsPool() throws Exception {
    lead(4, 3);
    write("/file", 1, 3);
    int source = serversOf(dataSlab()).get(0);
    servers.copied = 0;
    setReplication("/file", 3);
    await(() -> !rig.machine.moves().copierGrants().isEmpty(), 20);
    long target = rig.machine.moves().copierGrants().get(0).getSlab();
    int lost =
        serversOf(slab(target)).stream().filter(id -> id != source && id != 1).findAny().orElse(0);
    servers.mark(lost, ServerEntry.State.LOST);
    servers.stop(lost);
    run(1);
    servers.copied = Integer.MAX_VALUE;
    await(() -> status().getFilesToMove() == 0, 60);
    assertThat(has("/file", 3)).isTrue();
  }

  @Test
  void shouldWaitUntilAFileIsClosed() throws Exception {
    lead(3, 3);
    write("/file", 1, 3);
    setReplication("/file", 3);
    OpenedFile open = append("/file");
    run(20);
    assertThat(has("/file", 1)).isTrue();
    assertThat(status().getFilesToMove()).isEqualTo(1);
    Request close =
        Request.newBuilder()
            .setCommitExtents(
                io.takofs.proto.CommitExtents.newBuilder()
                    .setFileId(open.getFile().getId())
                    .setLeaseEpoch(open.getLeaseEpoch())
                    .setLength(open.getFile().getLength())
                    .setClose(true)
                    .setAllWritesCompleted(true))
            .build();
    TestClient.ok(rig.execute(client, close));
    await(() -> status().getFilesToMove() == 0, 10);
    assertThat(has("/file", 3)).isTrue();
  }

  @Test
  void shouldGoOnAfterTheLeaderWasStartedAgain() throws Exception {
    lead(3, 3);
    write("/file", 1, 40);
    servers.copied = 1;
    setReplication("/file", 3);
    for (int i = 0; i < 6; i++) {
      await(() -> !rig.machine.moves().copierGrants().isEmpty(), 20);
      turn();
      restart();
    }
    servers.copied = Integer.MAX_VALUE;
    await(() -> status().getFilesToMove() == 0, 60);
    assertThat(has("/file", 3)).isTrue();
    checkNothingIsLeft(1, 2, 3);
  }

  @Test
  void shouldGoOnWhenAServerOfTheNewCopiesIsBack() throws Exception {
    lead(3, 3);
    write("/file", 1, 40);
    servers.copied = 1;
    setReplication("/file", 3);
    await(() -> !rig.machine.moves().copierGrants().isEmpty(), 20);
    servers.stop(3);
    run(40); // a slab of the servers that are left takes the file, and gets its third copy later
    servers.copied = Integer.MAX_VALUE;
    servers.start(3);
    await(() -> status().getFilesToMove() == 0, 60);
    await(() -> has("/file", 3), 60);
    checkNothingIsLeft(1, 2, 3);
  }

  @Test
  void shouldLetRepairGoFirst() throws Exception {
    lead(4, 3);
    write("/lost", 3, 10);
    int gone = serversOf(dataSlab()).get(2);
    write("/file", 2, 5);
    servers.copied = 0;
    servers.stop(gone);
    await(() -> status().getSlabsCopiedNow() > 0, 30);
    setReplication("/file", 3);
    run(5);
    assertThat(status().getFilesToMove()).isEqualTo(1);
    assertThat(status().getMovesWait()).isEqualTo("for repair");
    assertThat(rig.machine.moves().copierGrants()).isEmpty();
    servers.copied = Integer.MAX_VALUE;
    await(() -> status().getFilesToMove() == 0, 60);
    assertThat(has("/file", 3)).isTrue();
  }

  @Test
  void shouldSayThatThereIsNoRoom() throws Exception {
    servers = new SlowServers(LentSlabs.of(2), LentSlabs.of(1), LentSlabs.of(1));
    rig = new HousekeepingRig(new io.takofs.server.store.HeapStore(Long.MAX_VALUE), servers, 3, 1);
    client = rig.openSession();
    run(1);
    write("/two", 2, 3);
    write("/file", 1, 5);
    setReplication("/file", 3);
    run(10);
    assertThat(status().getFilesToMove()).isEqualTo(1);
    assertThat(status().getMovesWait()).contains("room");
    delete("/two");
    await(() -> status().getFilesToMove() == 0, 90);
    assertThat(has("/file", 3)).isTrue();
  }

  @Test
  void shouldReplaceACopyThatWasFoundWrongAndTakeAnother() throws Exception {
    lead(3, 3);
    write("/file", 2, 5);
    Extent extent = extents("/file").get(2);
    Replica bad = slab(extent.getSlab()).getReplicas(0);
    servers.zone(bad.getServer()).spoil(bad.getLease(), extent);
    setReplication("/file", 3);
    await(() -> status().getFilesToMove() == 0, 60);
    assertThat(has("/file", 3)).isTrue();
  }

  /** A server may find bytes of another file where the extent was. */
  @Test
  void shouldNotBlameServersForWhatWasDeleted() throws Exception {
    lead(3, 3);
    write("/file", 2, 5);
    write("/other", 2, 1);
    Slab slab = dataSlab();
    servers.copied = 0;
    setReplication("/file", 3);
    await(() -> !rig.machine.moves().copierGrants().isEmpty(), 5);
    servers.stop(1); // which would answer at once
    slab.getReplicasList().forEach(replica -> spoil(slab, replica, 2));
    servers.copied = Integer.MAX_VALUE;
    int asked = servers.copies;
    await(() -> servers.copies > asked, 1);
    delete("/file");
    servers.start(1);
    run(5);
    assertThat(slab(slab.getId())).isEqualTo(slab);
  }
}
