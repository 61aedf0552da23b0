package io.takofs.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.takofs.proto.OpenedFile;
import io.takofs.proto.Slab;
import io.takofs.server.store.HeapStore;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Replicas move from full servers to emptier ones; the servers are scripted. */
class SlabRebalanceTest extends SlabRepairRig {
  /** Extents of 64 KiB that fill a slab of an arena's first range, which has a unit less. */
  private static final int SLAB = 255;

  private double share(int server) {
    return (double) rig.machine.slabs().usedBytesAt(server)
        / servers.zone(server).usage().getCapacity();
  }

  /** How much more of the fullest server is used than of all, which are equal. */
  private double excess(int count) {
    double[] shares = IntStream.rangeClosed(1, count).mapToDouble(this::share).toArray();
    return IntStream.range(0, count).mapToDouble(i -> shares[i]).max().orElseThrow()
        - IntStream.range(0, count).mapToDouble(i -> shares[i]).average().orElseThrow();
  }

  private List<Slab> slabs() {
    return List.copyOf(rig.machine.slabs().all());
  }

  @Test
  void shouldFillANewServer() throws Exception {
    lead(2, 1);
    for (int i = 0; i < 8; i++) {
      write("/file" + i, 1, SLAB);
    }
    servers.add(LentSlabs.of(16));
    assertThat(share(3)).isZero();
    await(() -> share(3) > 0 && excess(3) <= 0.05 && isWhole(1), 120);
    run(60);
    List<Slab> even = slabs();
    run(60);
    assertThat(slabs()).as("nothing moves any more").isEqualTo(even);
    checkNoLeak(1, 2, 3);
  }

  /** In a large cluster no server has much more than all have with a new one. */
  @Test
  void shouldFillANewServerOfMany() throws Exception {
    lead(9, 1);
    for (int i = 0; i < 45; i++) {
      write("/file" + i, 1, SLAB);
    }
    run(120);
    servers.add(LentSlabs.of(16));
    double all = 45.0 / 160;
    await(() -> share(10) >= all - 0.05 && isWhole(1), 240);
    run(60);
    List<Slab> even = slabs();
    run(60);
    assertThat(slabs()).as("nothing moves any more").isEqualTo(even);
    assertThat(share(10)).isLessThan(all + 0.05);
  }

  @Test
  void shouldGoOnWhenTheLeaderIsStartedAgain() throws Exception {
    lead(2, 2);
    for (int i = 0; i < 4; i++) {
      write("/file" + i, 2, SLAB);
    }
    servers.copied = 50;
    servers.add(LentSlabs.of(16));
    await(() -> rig.repair.status().getSlabsCopiedNow() == 1, 30);
    restart();
    client = rig.openSession();
    await(() -> excess(3) <= 0.05 && isWhole(2), 120);
    checkNoLeak(1, 2, 3);
  }

  @Test
  void shouldLeaveWhatWouldMoveBack() throws Exception {
    servers = new SlowServers(LentSlabs.of(4));
    rig = new HousekeepingRig(new HeapStore(Long.MAX_VALUE), servers, 1, 1);
    client = rig.openSession();
    run(1);
    write("/file", 1, 200); // in one slab, with room after them
    servers.add(LentSlabs.of(4));
    Slab before = dataSlab();
    run(60);
    assertThat(dataSlab()).isEqualTo(before);
    assertThat(servers.copies).isZero();
  }

  @Test
  void shouldLeaveWhatIsWritten() throws Exception {
    lead(1, 1);
    OpenedFile file = create("/open", 1);
    for (int i = 0; i < SLAB; i++) {
      grant(file);
    }
    servers.add(LentSlabs.of(16));
    List<Slab> before = slabs();
    run(60);
    assertThat(slabs()).isEqualTo(before);
  }

  @Test
  void shouldKeepReplicasInTheirRacks() throws Exception {
    lead(2, 2);
    servers.place(2, "/elsewhere");
    for (int i = 0; i < 4; i++) {
      write("/file" + i, 2, SLAB);
    }
    servers.add(LentSlabs.of(16));
    await(() -> share(3) > 0 && rig.repair.status().getSlabsCopiedNow() == 0, 60);
    run(120);
    assertThat(rig.machine.slabs().all())
        .filteredOn(slab -> !rig.machine.slabs().isWhollyFree(slab.getId()))
        .isNotEmpty()
        .allMatch(slab -> serversOf(slab).contains(2));
    assertThat(share(1)).isLessThan(share(2));
  }

  /** The only server of a rack has a copy of everything: it is the fullest one and stays so. */
  @Test
  void shouldMoveFromTheNextServerWhenNothingCanMoveFromTheFullestOne() throws Exception {
    servers = new SlowServers(LentSlabs.of(16), LentSlabs.of(8));
    rig = new HousekeepingRig(new HeapStore(Long.MAX_VALUE), servers, 2, 1);
    client = rig.openSession();
    run(1);
    servers.place(2, "/elsewhere");
    for (int i = 0; i < 6; i++) {
      write("/file" + i, 2, SLAB);
    }
    servers.add(LentSlabs.of(16));
    double all = 2 * 6.0 / (16 + 8 + 16);
    assertThat(share(1)).isGreaterThan(all + 0.05);
    await(() -> share(1) <= all + 0.05 && isWhole(2), 60);
    assertThat(share(2)).isEqualTo(6.0 / 8);
    checkNoLeak(1, 2, 3);
  }
}
