package io.takofs.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.takofs.proto.ReportReplicas;
import io.takofs.server.store.HeapStore;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Servers that have lent all they have, to slabs in which nothing is. */
class FullServersTest extends SlabRepairRig {
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
    ReportReplicas.Report report =
        ReportReplicas.Report.newBuilder().setSlab(written).setServer(3).build();
    rig.leases.report(client, ReportReplicas.newBuilder().addReports(report).build());
    write("/late", 3, 3);
    assertThat(serversOf(dataSlab())).containsExactly(1, 2);
    await(() -> isWhole(3), 60);
    assertThat(serversOf(dataSlab())).containsExactly(1, 2, 3);
    checkNoLeak(1, 2, 3);
  }
}
