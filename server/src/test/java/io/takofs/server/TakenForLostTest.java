package io.takofs.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.takofs.proto.Extent;
import io.takofs.proto.OpenedFile;
import io.takofs.proto.Replica;
import io.takofs.proto.ServerEntry;
import org.junit.jupiter.api.Test;

/**
 * A server that the map calls LOST, but that is there: its memory is not lent before it is clean.
 */
class TakenForLostTest extends SlabRepairRig {
  /** It stood still, say, and so does a client that is in the midst of a store. */
  @Test
  void shouldSayWhoMayStillWriteThere() throws Exception {
    lead(3, 3);
    long before = rig.supply.usage().getFree();
    OpenedFile file = create("/file", 3);
    Extent grant = grant(file);
    Replica away =
        slab(grant.getSlab()).getReplicasList().stream()
            .filter(replica -> replica.getServer() == 3)
            .findAny()
            .orElseThrow();
    servers.mark(3, ServerEntry.State.LOST);
    servers.stop(3);
    await(() -> slab(grant.getSlab()).getClosed(), 20);
    delete("/file");
    await(() -> slab(grant.getSlab()) == null, 60);
    checkNoLeak(1, 2);
    restart();
    servers.mark(3, ServerEntry.State.UP);
    servers.start(3);
    await(() -> !servers.zone(3).isHeld(away.getLease()), 60);
    assertThat(servers.zone(3).grantees.get(away.getLease())).containsExactly(client);
    await(() -> rig.machine.leftReplicas().all().isEmpty(), 10);
    run(40);
    assertThat(rig.supply.usage().getFree()).isEqualTo(before);
  }

  @Test
  void shouldFenceItBeforeItsMemoryIsGrantedAnew() throws Exception {
    lead(3, 3);
    write("/kept", 3, 1);
    OpenedFile file = create("/file", 3);
    assertThat(grant(file).getSlab()).isEqualTo(written);
    servers.mark(3, ServerEntry.State.LOST);
    servers.stop(3);
    await(() -> dataSlab().getClosed(), 20);
    delete("/file");
    run(90);
    assertThat(rig.machine.quarantinedCount()).isEqualTo(1);
    int fenced = servers.zone(3).fenced;
    servers.mark(3, ServerEntry.State.UP);
    servers.start(3);
    await(() -> rig.machine.quarantinedCount() == 0, 60);
    assertThat(servers.zone(3).fenced).isGreaterThan(fenced);
    await(() -> isWhole(3), 10);
  }

  @Test
  void shouldForgetWhatIsAtAServerThatWasRemoved() throws Exception {
    lead(3, 3);
    OpenedFile file = create("/file", 3);
    Extent grant = grant(file);
    servers.mark(3, ServerEntry.State.LOST);
    servers.stop(3);
    await(() -> slab(grant.getSlab()).getClosed(), 20);
    delete("/file");
    await(() -> slab(grant.getSlab()) == null, 60);
    run(10);
    assertThat(rig.machine.leftReplicas().servers()).containsExactly(3);
    servers.remove(3);
    await(() -> rig.machine.leftReplicas().all().isEmpty(), 10);
  }
}
