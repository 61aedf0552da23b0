package io.takofs.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.takofs.base.TakoException;
import io.takofs.layout.Layout;
import io.takofs.proto.Extent;
import io.takofs.proto.OpenedFile;
import io.takofs.proto.Replica;
import io.takofs.proto.ReportReplicas;
import io.takofs.proto.Slab;
import io.takofs.proto.Status;
import io.takofs.server.store.HeapStore;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Servers that have lent all they have, to slabs in which nothing is. */
class FullServersTest extends SlabRepairRig {
  /** Slabs that a server of 16 keeps for writers, and as many for repair. */
  private static final int KEPT = 1;

  /** The leader's own server answers at once, others later. */
  @ParameterizedTest
  @ValueSource(ints = {1, 2})
  void shouldGiveUpAFreeSlabForACopyThatIsMissing(int full) throws Exception {
    int other = 3 - full;
    servers = new SlowServers(LentSlabs.of(full == 1 ? 1 : 8), LentSlabs.of(full == 2 ? 1 : 8));
    rig = new HousekeepingRig(new HeapStore(Long.MAX_VALUE), servers, 2, 1);
    client = rig.openSession();
    run(1);
    servers.stop(other);
    run(2);
    write("/one", 1, 3);
    append("/one"); // so its slab is not emptied
    assertThat(serversOf(dataSlab())).containsExactly(full);
    servers.start(other);
    servers.stop(full);
    run(2);
    write("/two", 2, 3);
    assertThat(serversOf(dataSlab())).containsExactly(other);
    servers.start(full);
    run(60);
    assertThat(isWhole(2)).as("there is no room for the second copy").isFalse();
    delete("/one");
    await(() -> isWhole(2), 10);
    assertThat(serversOf(dataSlab())).containsExactly(1, 2);
    checkNoLeak(1, 2);
  }

  /** What becomes free is too short for the slab that was looked at last, and fits another. */
  @Test
  void shouldGiveUpAFreeSlabForAnyCopyThatFitsThere() throws Exception {
    servers = new SlowServers(new LentSlabs(List.of(2L * Layout.SLAB_SIZE)), LentSlabs.of(1));
    rig = new HousekeepingRig(new HeapStore(Long.MAX_VALUE), servers, 2, 1);
    client = rig.openSession();
    run(1);
    servers.stop(1);
    run(2);
    write("/other", 1, 3);
    assertThat(serversOf(dataSlab())).containsExactly(2);
    servers.start(1);
    servers.stop(2);
    run(2);
    for (int i = 0; i < 5; i++) {
      write("/short" + i, 2, 51); // together the units of a slab after checksums
    }
    Slab little = dataSlab();
    assertThat(little.getFirstUnit()).isEqualTo(1);
    write("/long", 2, 3);
    Slab full = dataSlab();
    assertThat(full.getFirstUnit()).isZero();
    servers.start(2);
    run(60);
    delete("/other");
    await(() -> serversOf(slab(little.getId())).equals(List.of(1, 2)), 30);
    assertThat(serversOf(slab(full.getId()))).as("it fits nowhere else").containsExactly(1);
  }

  @Test
  void shouldGiveUpAFreeSlabForAWriterThatCannotUseAServer() throws Exception {
    servers = new SlowServers(LentSlabs.of(1), LentSlabs.of(1), LentSlabs.of(1));
    rig = new HousekeepingRig(new HeapStore(Long.MAX_VALUE), servers, 3, 1);
    client = rig.openSession();
    run(1);
    write("/early", 3, 3);
    assertThat(serversOf(dataSlab())).containsExactly(1, 2, 3);
    delete("/early");
    await(() -> rig.machine.slabs().isWhollyFree(written), 10);
    cannotUse(written, 3);
    write("/late", 3, 3);
    assertThat(serversOf(dataSlab())).containsExactly(1, 2);
    await(() -> isWhole(3), 60);
    assertThat(serversOf(dataSlab())).containsExactly(1, 2, 3);
    checkNoLeak(1, 2, 3);
  }

  @Test
  void shouldGiveUpAFreeSlabThatLacksAReplicaItself() throws Exception {
    servers = new SlowServers(LentSlabs.of(1), LentSlabs.of(3), LentSlabs.of(3));
    rig = new HousekeepingRig(new HeapStore(Long.MAX_VALUE), servers, 3, 1);
    client = rig.openSession();
    run(1);
    write("/all", 3, 3);
    long all = written;
    assertThat(serversOf(slab(all))).containsExactly(1, 2, 3);
    cannotUse(all, 1);
    write("/gone", 3, 3);
    assertThat(serversOf(slab(written))).containsExactly(2, 3);
    cannotUse(all, 3);
    write("/one", 3, 3);
    long one = written;
    assertThat(serversOf(slab(one))).containsExactly(2);
    client = rig.openSession();
    cannotUse(all, 1);
    cannotUse(all, 2);
    write("/two", 3, 3);
    long two = written;
    assertThat(serversOf(slab(two))).containsExactly(3);
    for (String path : List.of("/all", "/gone", "/one", "/two")) {
      append(path); // so no slab is emptied
    }
    run(60);
    assertThat(serversOf(slab(one))).as("there is no room for another").containsExactly(2);
    delete("/gone");
    await(() -> serversOf(slab(one)).size() == 2 && serversOf(slab(two)).size() == 2, 30);
    checkNoLeak(1, 2, 3);
  }

  /** Files of whole slabs, until a writer is told that there is no space. */
  private void fill(int copies) throws TakoException {
    for (int i = 0; hasRoom(copies); i++) {
      write("/fill" + i, copies, 255);
    }
  }

  private boolean hasRoom(int copies) throws TakoException {
    OpenedFile file = create("/any", copies);
    Status status = Status.UNAVAILABLE;
    for (int i = 0; i < 20 && status == Status.UNAVAILABLE; i++) {
      try {
        rig.housekeeping.makeRoomFor(HousekeepingRig.ROOT, TestClient.grant(file, 1), client);
        status = Status.OK;
      } catch (TakoException e) {
        status = e.status();
        run(1);
      }
    }
    delete("/any");
    assertThat(status).isIn(Status.OK, Status.NO_SPACE);
    return status == Status.OK && rig.machine.freeBytes(copies, Set.of()) > 0;
  }

  /** A slab with room that lacks a server can be written when that server is back. */
  @Test
  void shouldHaveWritersWaitForAServerThatTheSlabsWithRoomNeed() throws Exception {
    servers = new SlowServers(LentSlabs.of(1), LentSlabs.of(1), LentSlabs.of(1));
    rig = new HousekeepingRig(new HeapStore(Long.MAX_VALUE), servers, 3, 1);
    client = rig.openSession();
    run(1);
    write("/early", 3, 3);
    append("/early"); // so its slab is not emptied
    servers.stop(3);
    run(30);
    OpenedFile late = create("/late", 3);
    assertThatThrownBy(() -> makeRoomAtLast(late))
        .isInstanceOfSatisfying(
            TakoException.class, e -> assertThat(e.status()).isEqualTo(Status.UNAVAILABLE))
        .hasMessageContaining("have a copy on server 3 (");
    servers.start(3);
    await(() -> hasRoomAtLast(late), 30);
    assertThat(rig.machine.freeBytes(3, Set.of())).isPositive();
    for (int i = 0; rig.machine.freeBytes(3, Set.of()) > 0; i++) {
      write("/more" + i, 3, 1);
    }
    servers.stop(3);
    run(30);
    assertThatThrownBy(() -> makeRoomAtLast(late))
        .as("nothing is left of the slab either")
        .isInstanceOfSatisfying(
            TakoException.class, e -> assertThat(e.status()).isEqualTo(Status.NO_SPACE));
  }

  /** There is, or may be soon: a slab is closed for a while after its server has come back. */
  private boolean hasRoomAtLast(OpenedFile file) {
    try {
      makeRoomAtLast(file);
      return true;
    } catch (TakoException e) {
      assertThat(e.status()).isEqualTo(Status.UNAVAILABLE);
      return false;
    }
  }

  private void makeRoomAtLast(OpenedFile file) throws TakoException {
    rig.housekeeping.makeRoomFor(
        HousekeepingRig.ROOT,
        TestClient.grant(file, 1).toBuilder().setHasWaited(true).build(),
        client);
  }

  private long freeSlabs(int server) {
    return servers.zone(server).usage().getFree() / (255 * Layout.UNIT_SIZE);
  }

  /** When it is silent, none of the slabs there takes bytes, and nothing in them becomes free. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void shouldKeepSlabsForWritersThatWillMissAServer(boolean isLittleLeft) throws Exception {
    lead(3, 3);
    for (int i = 0; hasRoom(3); i++) {
      write("/little" + i, 3, 1);
      write("/much" + i, 3, 254);
    }
    int slabs = rig.machine.slabs().all().size();
    for (int i = 0; i < slabs; i++) {
      delete("/much" + i);
      if (!isLittleLeft) {
        delete("/little" + i);
      }
    }
    run(60);
    for (int server = 1; server <= 3; server++) {
      long free = servers.zone(server).usage().getFree() + Layout.SLAB_SIZE - 1;
      assertThat(free / Layout.SLAB_SIZE).as("of server " + server).isEqualTo(2 * KEPT);
    }
    assertThat(rig.machine.slabs().all()).allMatch(each -> !each.getClosed());
    servers.stop(3);
    run(2);
    for (int i = 0; i < KEPT; i++) {
      write("/late" + i, 3, 254);
      assertThat(serversOf(dataSlab())).containsExactly(1, 2);
    }
    servers.start(3);
    await(() -> isWhole(3), 120);
    checkNoLeak(1, 2, 3);
  }

  @Test
  void shouldMakeLostCopiesWhereWritersHaveNoSpace() throws Exception {
    lead(4, 2);
    fill(2);
    for (int server = 1; server <= 4; server++) {
      assertThat(freeSlabs(server)).as("server %d", server).isBetween(1L, 2L);
    }
    run(60);
    assertThat(servers.copies).as("nothing moves there by choice").isZero();
    servers.stop(4);
    await(() -> freeSlabs(1) + freeSlabs(2) == 0 && rig.repair.status().getSlabsDone() >= 2, 60);
    assertThat(hasRoom(2)).isFalse();
    assertThat(hasRoom(1)).isFalse();
  }

  @Test
  void shouldReplaceWrongBytesWhereWritersHaveNoSpace() throws Exception {
    lead(2, 2);
    fill(2);
    Slab slab = dataSlab();
    Replica bad = slab.getReplicas(1);
    Extent extent = rig.machine.committedIn(slab.getId()).get(0);
    servers.zone(bad.getServer()).spoil(bad.getLease(), extent);
    ReportReplicas.Report report =
        ReportReplicas.Report.newBuilder()
            .setSlab(slab.getId())
            .setVersion(slab.getVersion())
            .setServer(bad.getServer())
            .setWrongBytes(true)
            .build();
    rig.repair.report(ReportReplicas.newBuilder().addReports(report).build());
    await(() -> !dataSlab().getReplicasList().contains(bad) && isWhole(2), 60);
    assertThat(serversOf(dataSlab())).containsExactly(1, 2);
    checkNoLeak(1, 2);
  }

  @Test
  void shouldFillAServerAlone() throws Exception {
    lead(1, 1);
    fill(1);
    assertThat(servers.zone(1).usage().getFree()).isZero();
  }
}
