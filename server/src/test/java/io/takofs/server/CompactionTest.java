package io.takofs.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.takofs.base.TakoException;
import io.takofs.proto.Extent;
import io.takofs.proto.OpenedFile;
import io.takofs.proto.Replica;
import io.takofs.proto.Slab;
import io.takofs.proto.Status;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** Sparse slabs are emptied when their room is needed; the servers are scripted. */
class CompactionTest extends SlabRepairRig {
  /** So few that none serves repair only. */
  private static final int SLABS = 4;

  /** Each slab of the servers has one copy of two extents of a file, and then of nothing else. */
  private void fillWithSparseSlabs(int servers) throws Exception {
    String[] racks = new String[servers];
    Arrays.fill(racks, "/rack");
    lead(3, SLABS, racks);
    for (int i = 0; i < servers * SLABS; i++) {
      write("/kept" + i, 1, 2);
      write("/deleted" + i, 1, units() - 2);
    }
    assertThat(rig.supply.usage().getFree()).isZero();
    for (int i = 0; i < servers * SLABS; i++) {
      delete("/deleted" + i);
    }
    run(20);
    assertThat(rig.machine.slabs().all()).hasSize(servers * SLABS);
    assertThat(rig.machine.quarantinedCount()).isZero();
  }

  /** Extents of one unit that a slab has room for. */
  private int units() {
    return dataSlab().getEndUnit() - dataSlab().getFirstUnit();
  }

  /** Checks that each replica that {@code living} servers keep has what is committed. */
  private void checkBytes(int... living) {
    List<Integer> there = Arrays.stream(living).boxed().toList();
    for (Slab slab : rig.machine.slabs().all()) {
      for (Replica replica : slab.getReplicasList()) {
        for (Extent extent : rig.machine.committedIn(slab.getId())) {
          if (there.contains(replica.getServer())) {
            assertThat(servers.zone(replica.getServer()).has(replica.getLease(), extent)).isTrue();
          }
        }
      }
    }
  }

  private long emptied() {
    return rig.compaction.status(rig.repair.status()).getSlabsEmptied();
  }

  private long committed() {
    return rig.machine.slabs().all().stream()
        .mapToLong(slab -> rig.machine.committedIn(slab.getId()).size())
        .sum();
  }

  private Map<Boolean, Long> slabsByClosed() {
    Map<Boolean, Long> counts = new TreeMap<>();
    rig.machine.slabs().all().forEach(slab -> counts.merge(slab.getClosed(), 1L, Long::sum));
    return counts;
  }

  /** The reply to a writer that tries again for a while. */
  private Status lastRefusal(OpenedFile file) {
    Status last = Status.OK;
    for (int i = 0; i < 20; i++) {
      try {
        rig.grant(client, TestClient.grant(file, 1));
        return Status.OK;
      } catch (TakoException e) {
        last = e.status();
      }
      turn();
    }
    return last;
  }

  @Test
  void shouldMakeRoomForFilesOfAnotherNumberOfCopies() throws Exception {
    fillWithSparseSlabs(3);
    int units = units();
    for (int i = 0; i < 4; i++) { // in two slabs of three copies
      write("/three" + i, 3, units / 2);
    }
    assertThat(emptied()).isBetween(3L, 6L); // two slabs of three copies; others may come free
    assertThat(committed()).isEqualTo(12 * 2 + 4 * (units / 2));
    checkBytes(1, 2, 3);
    run(90);
    assertThat(slabsByClosed()).doesNotContainKey(true);
    assertThat(rig.machine.moves().copierGrants()).isEmpty();
    checkBytes(1, 2, 3);
    checkNoLeak(1, 2, 3);
  }

  @Test
  void shouldMakeRoomForACopyThatIsMadeAgain() throws Exception {
    lead(3, SLABS, "/rack", "/rack", "/rack", "/rack");
    write("/three", 3, 10);
    Slab three = dataSlab();
    int gone = serversOf(three).get(2);
    servers.stop(gone); // nothing of what follows is there
    run(1);
    int kept = 0;
    while (rig.supply.usage().getFree() > 0 && kept < 4 * SLABS) {
      try {
        write("/kept" + kept, 1, 2);
        write("/deleted" + kept, 1, units() - 2);
        kept++;
      } catch (AssertionError | TakoException e) {
        break;
      }
    }
    for (int i = 0; i < kept; i++) {
      delete("/deleted" + i);
    }
    await(() -> slab(three.getId()).getReplicasCount() == 3 && isAway(three.getId(), gone), 120);
    assertThat(emptied()).isEqualTo(1);
    run(30);
    assertThat(emptied()).isEqualTo(1);
    for (Replica replica : slab(three.getId()).getReplicasList()) {
      for (Extent extent : rig.machine.committedIn(three.getId())) {
        assertThat(servers.zone(replica.getServer()).has(replica.getLease(), extent)).isTrue();
      }
    }
  }

  private boolean isAway(long slab, int server) {
    return !serversOf(slab(slab)).contains(server);
  }

  @Test
  void shouldLeaveSlabsWithOpenFiles() throws Exception {
    fillWithSparseSlabs(3);
    for (int i = 0; i < 12; i++) {
      append("/kept" + i);
    }
    assertThat(lastRefusal(create("/three", 3))).isEqualTo(Status.NO_SPACE);
    run(20);
    assertThat(emptied()).isZero();
    assertThat(slabsByClosed()).doesNotContainKey(true);
  }

  @Test
  void shouldOpenASlabAgainWhenAFileInItIsOpened() throws Exception {
    fillWithSparseSlabs(3);
    servers.copied = 0;
    OpenedFile three = create("/three", 3);
    assertThat(lastRefusal(three)).isEqualTo(Status.UNAVAILABLE);
    await(() -> !rig.machine.moves().copierGrants().isEmpty(), 5);
    for (int i = 0; i < 12; i++) {
      append("/kept" + i);
    }
    run(5);
    assertThat(slabsByClosed()).doesNotContainKey(true);
    assertThat(rig.machine.moves().copierGrants()).isEmpty();
    assertThat(emptied()).isZero();
    checkBytes(1, 2, 3);
  }

  @Test
  void shouldGoOnWhenFilesAreDeletedMeanwhile() throws Exception {
    fillWithSparseSlabs(3);
    servers.copied = 0;
    OpenedFile three = create("/three", 3);
    assertThat(lastRefusal(three)).isEqualTo(Status.UNAVAILABLE);
    await(() -> !rig.machine.moves().copierGrants().isEmpty(), 5);
    for (int i = 0; i < 12; i += 2) {
      delete("/kept" + i);
    }
    servers.copied = Integer.MAX_VALUE;
    grant(three);
    assertThat(emptied()).isPositive();
    checkBytes(1, 2, 3);
  }

  @Test
  void shouldGoOnAfterTheLeaderWasStartedAgain() throws Exception {
    fillWithSparseSlabs(3);
    servers.copied = 0;
    OpenedFile three = create("/three", 3);
    for (int i = 0; i < 4; i++) {
      assertThat(lastRefusal(three)).isEqualTo(Status.UNAVAILABLE);
      await(() -> !rig.machine.moves().copierGrants().isEmpty(), 5);
      restart();
      run(2);
      assertThat(slabsByClosed()).doesNotContainKey(true);
    }
    servers.copied = Integer.MAX_VALUE;
    grant(three);
    checkBytes(1, 2, 3);
  }

  @Test
  void shouldEmptyNothingWhenThereIsNoRoomElsewhere() throws Exception {
    lead(3, SLABS, "/rack", "/rack", "/rack");
    for (int i = 0; i < 12; i++) {
      write("/kept" + i, 1, 2);
      write("/full" + i, 1, units() - 2);
    }
    assertThat(lastRefusal(create("/three", 3))).isEqualTo(Status.NO_SPACE);
    run(20);
    assertThat(emptied()).isZero();
    assertThat(slabsByClosed()).doesNotContainKey(true);
  }
}
