package io.takofs.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.takofs.proto.CommitExtents;
import io.takofs.proto.Extent;
import io.takofs.proto.OpenedFile;
import io.takofs.proto.Request;
import io.takofs.server.store.HeapStore;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** An extent on three servers is freed when all of them are done with it. */
class FencingTest {
  private final SlowServers servers =
      new SlowServers(LentSlabs.of(4), LentSlabs.of(4), LentSlabs.of(4));
  private HousekeepingRig rig;

  /** One extent in quarantine. */
  @BeforeEach
  void deleteAFile() throws Exception {
    rig = new HousekeepingRig(new HeapStore(Long.MAX_VALUE), servers, 3, 1);
    long client = rig.openSession();
    Request create = TestClient.create("/file", 1, 3);
    for (int i = 0; i < 3; i++) {
      servers.deliver();
      rig.housekeeping.makeRoomFor(HousekeepingRig.ROOT, create, 0);
    }
    OpenedFile file = TestClient.ok(rig.execute(client, create)).getOpenedFile();
    Extent grant = file.getGrants(0);
    assertThat(rig.machine.slabs().get(grant.getSlab()).getReplicasCount()).isEqualTo(3);
    TestClient.ok(
        rig.execute(
            client,
            Request.newBuilder()
                .setCommitExtents(
                    CommitExtents.newBuilder()
                        .setFileId(file.getFile().getId())
                        .setLeaseEpoch(file.getLeaseEpoch())
                        .addExtents(grant.toBuilder().setLength(1))
                        .setLength(1)
                        .setClose(true)
                        .setAllWritesCompleted(true))
                .build()));
    TestClient.ok(rig.execute(client, TestClient.delete("/file")));
    assertThat(rig.machine.quarantinedCount()).isEqualTo(1);
    servers.deliver();
    rig.passMs(10_000); // it has rested
  }

  private void tick() {
    rig.passMs(1000);
    rig.tick();
  }

  @Test
  void shouldFreeNothingBeforeTheSlowestServerHasAnswered() {
    tick();
    assertThat(rig.machine.quarantinedCount()).isEqualTo(1);
    servers.deliver(2);
    tick();
    tick();
    assertThat(rig.machine.quarantinedCount()).isEqualTo(1);
    servers.deliver(3);
    tick();
    assertThat(rig.machine.quarantinedCount()).isZero();
    for (int server = 1; server <= 3; server++) {
      assertThat(servers.zone(server).fenced).as("questions to %d", server).isEqualTo(1);
    }
  }

  @Test
  void shouldAskAServerAgainThatDoesNotAnswer() {
    servers.stop(3);
    for (int i = 0; i < 20; i++) {
      tick();
      servers.deliver();
    }
    assertThat(rig.machine.quarantinedCount()).isEqualTo(1);
    servers.start(3);
    tick();
    servers.deliver();
    tick();
    assertThat(rig.machine.quarantinedCount()).isZero();
    assertThat(servers.zone(1).fenced).isEqualTo(1);
    assertThat(servers.zone(2).fenced).isEqualTo(1);
  }

  @Test
  void shouldFreeNothingWhileSomebodyReadsOneOfTheCopies() {
    servers.zone(2).readers = true;
    for (int i = 0; i < 20; i++) {
      tick();
      servers.deliver();
    }
    assertThat(rig.machine.quarantinedCount()).isEqualTo(1);
    servers.zone(2).readers = false;
    tick();
    servers.deliver();
    tick();
    assertThat(rig.machine.quarantinedCount()).isZero();
  }
}
