package io.takofs.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.takofs.base.TakoException;
import io.takofs.layout.Layout;
import io.takofs.proto.LeasedSlab;
import io.takofs.proto.OpenedFile;
import io.takofs.proto.Replica;
import io.takofs.proto.Reply;
import io.takofs.proto.ReportReplicas;
import io.takofs.proto.Request;
import io.takofs.proto.ServerEntry;
import io.takofs.proto.Slab;
import io.takofs.proto.SpaceUsage;
import io.takofs.proto.Status;
import io.takofs.server.loggroup.GrantPlacement;
import io.takofs.server.store.HeapStore;
import java.time.Duration;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class SlabSupplyTest {
  private long client;

  private HousekeepingRig lead(SlowServers servers, int copiesMax, int copiesMin)
      throws TakoException {
    HousekeepingRig rig =
        new HousekeepingRig(new HeapStore(Long.MAX_VALUE), servers, copiesMax, copiesMin);
    client = rig.openSession();
    return rig;
  }

  private OpenedFile create(HousekeepingRig rig, String path, int replication)
      throws TakoException {
    return TestClient.ok(rig.execute(client, TestClient.create(path, 0, replication)))
        .getOpenedFile();
  }

  private static Request grant(OpenedFile file) {
    return TestClient.grant(file, 1);
  }

  private Slab slabFor(HousekeepingRig rig, OpenedFile file) throws TakoException {
    rig.housekeeping.makeRoomFor(HousekeepingRig.ROOT, grant(file), client);
    Reply reply = TestClient.ok(rig.execute(client, grant(file)));
    return rig.machine.slabs().get(reply.getGrants().getExtents(0).getSlab());
  }

  /** The answers that are under way come, and housekeeping goes on. */
  private static void settle(HousekeepingRig rig, SlowServers servers) {
    for (int i = 0; i < 4; i++) {
      servers.deliver();
      rig.passMs(1000);
      rig.tick();
    }
    servers.deliver();
  }

  /** No replica is memory that its server has not lent, and none is in two slabs. */
  private static void checkLeases(HousekeepingRig rig, SlowServers servers) {
    Set<Replica> seen = new HashSet<>();
    for (Slab slab : rig.machine.slabs().all()) {
      for (Replica replica : slab.getReplicasList()) {
        assertThat(seen.add(replica)).as("%s is in two slabs", replica).isTrue();
        Collection<LeasedSlab> held = servers.zone(replica.getServer()).held();
        assertThat(held)
            .as("%s of slab %d", replica, slab.getId())
            .anyMatch(
                lent ->
                    lent.getLease() == replica.getLease()
                        && lent.getArena() == replica.getArena()
                        && lent.getIndex() == replica.getIndex());
      }
    }
  }

  @Test
  void shouldKeepAsManyCopiesAsFilesAskForAndTheGroupAllows() throws Exception {
    SlowServers servers =
        new SlowServers(LentSlabs.of(8), LentSlabs.of(8), LentSlabs.of(8), LentSlabs.of(8));
    HousekeepingRig rig = lead(servers, 3, 1);
    settle(rig, servers);
    for (int asked : List.of(1, 2, 3, 10)) {
      OpenedFile file = create(rig, "/" + asked, asked);
      if (asked > 1 && asked < 10) {
        assertThatThrownBy(() -> slabFor(rig, file))
            .as("the other servers have not answered yet")
            .isInstanceOfSatisfying(
                TakoException.class, e -> assertThat(e.status()).isEqualTo(Status.UNAVAILABLE));
        settle(rig, servers);
      }
      Slab slab = slabFor(rig, file);
      assertThat(slab.getReplicasCount()).isEqualTo(Math.min(asked, 3));
      assertThat(slab.getWanted()).isEqualTo(Math.min(asked, 3));
    }
    checkLeases(rig, servers);
  }

  @Test
  void shouldWriteToTheServersThatAnswerAndSayWhatIsMissing() throws Exception {
    SlowServers servers = new SlowServers(LentSlabs.of(4), LentSlabs.of(4), LentSlabs.of(4));
    servers.stop(3);
    HousekeepingRig rig = lead(servers, 3, 1);
    OpenedFile file = create(rig, "/file", 3);
    settle(rig, servers);
    assertThatThrownBy(() -> slabFor(rig, file)).isInstanceOf(TakoException.class);
    settle(rig, servers);
    assertThatThrownBy(() -> slabFor(rig, file))
        .as("the third may still answer for the first time")
        .isInstanceOf(TakoException.class);
    assertThat(rig.machine.slabs().size()).isZero();
    rig.passMs(Duration.ofSeconds(11).toMillis());
    settle(rig, servers);
    Slab slab = slabFor(rig, file);
    assertThat(slab.getReplicasList()).extracting(Replica::getServer).containsExactly(1, 2);
    assertThat(slab.getWanted()).isEqualTo(3);
    checkLeases(rig, servers);
  }

  @Test
  void shouldWaitForAServerThatWasNotAskedYet() throws Exception {
    SlowServers servers = new SlowServers(LentSlabs.of(4), LentSlabs.of(4), LentSlabs.of(4));
    HousekeepingRig rig = lead(servers, 3, 1);
    OpenedFile file = create(rig, "/file", 3);
    servers.deliver(2);
    assertThatThrownBy(() -> slabFor(rig, file))
        .isInstanceOfSatisfying(
            TakoException.class, e -> assertThat(e.status()).isEqualTo(Status.UNAVAILABLE));
    assertThat(rig.machine.slabs().size()).isZero();
    settle(rig, servers);
    assertThat(slabFor(rig, file).getReplicasCount()).isEqualTo(3);
  }

  @Test
  void shouldRefuseToWriteBelowTheMinimumAndSayWhatToDo() throws Exception {
    SlowServers servers = new SlowServers(LentSlabs.of(4), LentSlabs.of(4), LentSlabs.of(4));
    servers.stop(2);
    servers.stop(3);
    HousekeepingRig rig = lead(servers, 3, 2);
    settle(rig, servers);
    OpenedFile file = create(rig, "/file", 3);
    assertThatThrownBy(() -> slabFor(rig, file))
        .isInstanceOfSatisfying(
            TakoException.class, e -> assertThat(e.status()).isEqualTo(Status.UNAVAILABLE))
        .hasMessageContaining("only 1 of 3 servers answer")
        .hasMessageContaining("2 copies")
        .hasMessageContaining("fs.tako.replication.min");
    assertThat(slabFor(rig, create(rig, "/one", 1)).getReplicasCount()).isEqualTo(1);
    servers.start(2);
    settle(rig, servers);
    assertThatThrownBy(() -> slabFor(rig, file)).isInstanceOf(TakoException.class);
    settle(rig, servers);
    assertThat(slabFor(rig, file).getReplicasCount()).isEqualTo(2);
    checkLeases(rig, servers);
  }

  @Test
  void shouldKeepTheLeasesThatAreInNoSlabYetWhenItReturnsOthers() throws Exception {
    SlowServers servers = new SlowServers(LentSlabs.of(3), LentSlabs.of(1), LentSlabs.of(1));
    HousekeepingRig rig = lead(servers, 3, 1);
    settle(rig, servers);
    Request much = TestClient.grant(create(rig, "/three", 3), 2 * Layout.SLAB_SIZE);
    assertThatThrownBy(() -> rig.housekeeping.makeRoomFor(HousekeepingRig.ROOT, much, client))
        .isInstanceOf(TakoException.class);
    settle(rig, servers);
    assertThat(rig.machine.slabs().all()).hasSize(1); // and server 1 has lent more
    assertThat(servers.zone(1).held().size()).isGreaterThan(1);
    OpenedFile two = create(rig, "/two", 2);
    assertThat(await(rig, servers, two).getReplicasCount()).isEqualTo(2);
    checkLeases(rig, servers);
  }

  @Test
  void shouldForgetTheLeasesThatAServerHasLost() throws Exception {
    SlowServers servers = new SlowServers(LentSlabs.of(4), LentSlabs.of(1));
    HousekeepingRig rig = lead(servers, 2, 1);
    settle(rig, servers);
    OpenedFile file = create(rig, "/file", 2);
    assertThatThrownBy(() -> slabFor(rig, file)).isInstanceOf(TakoException.class);
    servers.stop(2);
    settle(rig, servers);
    servers.replace(2, LentSlabs.of(1));
    servers.start(2);
    settle(rig, servers);
    assertThat(await(rig, servers, file).getReplicasList())
        .extracting(Replica::getServer)
        .containsExactly(1, 2);
    settle(rig, servers);
    checkLeases(rig, servers);
  }

  /** As {@link #slabFor}, while servers answer; null when there is no space. */
  private Slab await(HousekeepingRig rig, SlowServers servers, OpenedFile file)
      throws TakoException {
    for (int i = 0; i < 8; i++) {
      try {
        rig.housekeeping.makeRoomFor(HousekeepingRig.ROOT, grant(file), client);
        Reply reply = rig.execute(client, grant(file));
        if (reply.getStatus() == Status.OK) {
          return rig.machine.slabs().get(reply.getGrants().getExtents(0).getSlab());
        }
        assertThat(reply.getStatus()).isEqualTo(Status.NO_SPACE);
      } catch (TakoException e) {
        assertThat(e.status()).isIn(Status.UNAVAILABLE, Status.NO_SPACE);
      }
      settle(rig, servers);
      checkLeases(rig, servers);
    }
    return null;
  }

  @Test
  void shouldGiveTheSlabsOfOneKindToAnotherWhenTheyAreFree() throws Exception {
    SlowServers servers = new SlowServers(LentSlabs.of(2), LentSlabs.of(2), LentSlabs.of(2));
    HousekeepingRig rig = lead(servers, 3, 1);
    settle(rig, servers);
    OpenedFile three = create(rig, "/three", 3);
    assertThat(await(rig, servers, three).getReplicasCount()).isEqualTo(3);
    OpenedFile two = create(rig, "/two", 2);
    assertThat(await(rig, servers, two).getReplicasCount()).isEqualTo(2);
    OpenedFile one = create(rig, "/one", 1);
    assertThat(await(rig, servers, one).getReplicasCount()).isEqualTo(1);
    checkLeases(rig, servers);
    // Six slabs are three, two and one. Another file of two copies goes on in the slab there is.
    assertThat(await(rig, servers, create(rig, "/two more", 2)).getReplicasCount()).isEqualTo(2);

    for (String path : List.of("/two", "/two more", "/one")) {
      TestClient.ok(rig.execute(client, TestClient.delete(path)));
    }
    for (int i = 0; i < 10 && rig.machine.quarantinedCount() > 0; i++) {
      rig.passMs(10_000);
      settle(rig, servers);
    }
    assertThat(rig.machine.quarantinedCount()).isZero();
    // What the others had is no room for files of three copies yet.
    long before = rig.machine.freeBytes(3, Set.of());
    assertThat(before).isLessThan(Layout.SLAB_SIZE);
    long granted = 0;
    OpenedFile large = create(rig, "/large", 3);
    for (Slab slab = await(rig, servers, large); slab != null; slab = await(rig, servers, large)) {
      assertThat(slab.getReplicasCount()).isEqualTo(3);
      granted += Layout.UNIT_SIZE;
      if (granted % (14 << 20) == 0) {
        checkLeases(rig, servers);
        // No more may be granted to one file before it commits some.
        large = create(rig, "/large" + granted, 3);
      }
    }
    assertThat(granted)
        .as("all of another slab too, whose first unit is checksums")
        .isEqualTo(before + Layout.SLAB_SIZE - Layout.UNIT_SIZE);
    checkLeases(rig, servers);
    assertThat(rig.machine.slabs().all())
        .allMatch(slab -> slab.getReplicasCount() == slab.getWanted());
  }

  private void report(HousekeepingRig rig, Slab slab, int server) {
    rig.leases.report(
        client,
        ReportReplicas.newBuilder()
            .addReports(
                ReportReplicas.Report.newBuilder()
                    .setSlab(slab.getId())
                    .setVersion(slab.getVersion())
                    .setServer(server))
            .build());
  }

  @Test
  void shouldSayWhichServerIsAwayWhenThereIsRoomOnlyWhereItIs() throws Exception {
    SlowServers servers = new SlowServers(LentSlabs.of(1), LentSlabs.of(1), LentSlabs.of(1));
    HousekeepingRig rig = lead(servers, 3, 1);
    settle(rig, servers);
    OpenedFile file = create(rig, "/file", 3);
    Slab slab = await(rig, servers, file);
    assertThat(slab.getReplicasCount()).isEqualTo(3);
    report(rig, slab, 3);
    settle(rig, servers);
    assertThatThrownBy(() -> slabFor(rig, file))
        .isInstanceOfSatisfying(
            TakoException.class, e -> assertThat(e.status()).isEqualTo(Status.UNAVAILABLE))
        .hasMessageContaining("server 3")
        .hasMessageContaining("did not answer this client");
    assertThat(rig.housekeeping.makeRoomFor(HousekeepingRig.ROOT, grant(file), 0).avoided())
        .as("other clients go on")
        .isEmpty();
    rig.passMs(Duration.ofSeconds(31).toMillis());
    settle(rig, servers);
    assertThat(slabFor(rig, file)).isEqualTo(slab);
  }

  /** It may be had soon, on server 4: other slabs are returned first. */
  private void awaitRefusal(HousekeepingRig rig, SlowServers servers, OpenedFile file) {
    String said = "";
    for (int i = 0; i < 20 && !said.contains("server 4"); i++) {
      Throwable refusal = catchThrowable(() -> slabFor(rig, file));
      assertThat(refusal)
          .isInstanceOfSatisfying(
              TakoException.class, e -> assertThat(e.status()).isEqualTo(Status.UNAVAILABLE));
      said = refusal.getMessage();
      servers.deliver();
    }
    assertThat(said).contains("server 4");
  }

  /** Half of the servers are dead, one is full, and the last one was silent for a moment. */
  @Test
  void shouldNotSayThatThereIsNoSpaceWhileAServerWithRoomIsOnlySuspected() throws Exception {
    SlowServers servers =
        new SlowServers(LentSlabs.of(0), LentSlabs.of(4), LentSlabs.of(4), LentSlabs.of(4));
    HousekeepingRig rig = lead(servers, 3, 1);
    settle(rig, servers);
    Slab used = await(rig, servers, create(rig, "/three", 3));
    assertThat(used.getReplicasList()).extracting(Replica::getServer).contains(4);
    servers.stop(2);
    servers.stop(3);
    rig.passMs(Duration.ofSeconds(12).toMillis());
    settle(rig, servers);
    OpenedFile one = create(rig, "/one", 1);
    report(rig, used, 4);
    awaitRefusal(rig, servers, one);
    servers.stop(4);
    settle(rig, servers);
    awaitRefusal(rig, servers, one);
    servers.start(4);
    rig.passMs(Duration.ofSeconds(31).toMillis());
    settle(rig, servers);
    assertThat(await(rig, servers, one).getReplicasList())
        .extracting(Replica::getServer)
        .containsExactly(4);
    servers.stop(4);
    rig.passMs(Duration.ofSeconds(12).toMillis());
    settle(rig, servers);
    OpenedFile none = create(rig, "/none", 2);
    assertThatThrownBy(() -> slabFor(rig, none))
        .as("all others are dead")
        .isInstanceOfSatisfying(
            TakoException.class, e -> assertThat(e.status()).isEqualTo(Status.NO_SPACE))
        .hasMessageContaining("full are server 1");
  }

  @Test
  void shouldLookForServersToAvoidOnlyForWhatIsGranted() throws Exception {
    SlowServers servers = new SlowServers(LentSlabs.of(4), LentSlabs.of(4), LentSlabs.of(4));
    HousekeepingRig rig = lead(servers, 3, 1);
    settle(rig, servers);
    OpenedFile file = create(rig, "/file", 3);
    Slab slab = await(rig, servers, file);
    report(rig, slab, 3);
    assertThat(
            rig.housekeeping.makeRoomFor(HousekeepingRig.ROOT, TestClient.create("/g", 1), client))
        .isEqualTo(new GrantPlacement(0, Set.of(3)));
    assertThat(
            rig.housekeeping.makeRoomFor(HousekeepingRig.ROOT, TestClient.delete("/file"), client))
        .isEqualTo(GrantPlacement.NONE);
  }

  @Test
  void shouldCountTheSpaceOfTheServersThatAreThere() throws Exception {
    SlowServers servers =
        new SlowServers(LentSlabs.of(4), LentSlabs.of(4), LentSlabs.of(4), LentSlabs.of(4));
    HousekeepingRig rig = lead(servers, 3, 1);
    settle(rig, servers);
    assertThat(await(rig, servers, create(rig, "/file", 3)).getReplicasCount()).isEqualTo(3);
    SpaceUsage all = rig.supply.usage();
    assertThat(all.getUsed()).isEqualTo(3L * Layout.UNIT_SIZE);
    servers.mark(4, ServerEntry.State.DECOMMISSIONING);
    settle(rig, servers);
    assertThat(rig.supply.usage()).isEqualTo(all);
    servers.mark(4, ServerEntry.State.DECOMMISSIONED);
    servers.mark(3, ServerEntry.State.LOST);
    settle(rig, servers);
    assertThat(rig.supply.usage().getCapacity()).isEqualTo(all.getCapacity() / 2);
    servers.remove(2);
    settle(rig, servers);
    assertThat(rig.supply.usage().getCapacity()).isEqualTo(all.getCapacity() / 4);
  }

  @Test
  void shouldLeaseNothingAheadForFilesThatNobodyWritesAnyMore() throws Exception {
    SlowServers servers = new SlowServers(LentSlabs.of(20), LentSlabs.of(20));
    HousekeepingRig rig = lead(servers, 2, 1);
    settle(rig, servers);
    OpenedFile file = create(rig, "/file", 2);
    assertThat(await(rig, servers, file)).isNotNull();
    settle(rig, servers);
    int ahead = rig.machine.slabs().size();
    assertThat(ahead).isGreaterThan(1);
    rig.passMs(Duration.ofMinutes(2).toMillis());
    settle(rig, servers);
    for (int i = 0; i < 3; i++) { // so that less than what is kept ahead is free
      TestClient.ok(rig.execute(client, TestClient.grant(file, 4 << 20)));
    }
    settle(rig, servers);
    assertThat(rig.machine.slabs().size()).isEqualTo(ahead);
  }

  @Test
  void shouldAskAServerAgainAfterACallThatCouldNotBeBegun() throws Exception {
    SlowServers servers = new SlowServers(LentSlabs.of(4), LentSlabs.of(4));
    HousekeepingRig rig = lead(servers, 2, 1);
    settle(rig, servers);
    OpenedFile file = create(rig, "/file", 2);
    servers.broken = 2;
    assertThatThrownBy(() -> slabFor(rig, file)).isInstanceOf(IllegalStateException.class);
    servers.broken = 0;
    assertThat(await(rig, servers, file).getReplicasCount()).isEqualTo(2);
  }

  @Test
  void shouldKeepOneKindOfSlabOnAServerAlone() throws Exception {
    SlowServers servers = new SlowServers(LentSlabs.of(1));
    HousekeepingRig rig = lead(servers, 1, 1);
    Set<Long> slabs = new HashSet<>();
    for (int asked : List.of(1, 2, 3, 10)) {
      OpenedFile file = create(rig, "/" + asked, asked);
      assertThat(file.getFile().getReplication()).isEqualTo(asked);
      slabs.add(slabFor(rig, file).getId());
    }
    assertThat(slabs).hasSize(1);
  }

  @Test
  void shouldGrantWithTheCreationWhatAFileWithoutANamedReplicationHas() throws Exception {
    SlowServers servers = new SlowServers(LentSlabs.of(2), LentSlabs.of(2), LentSlabs.of(2));
    HousekeepingRig rig = lead(servers, 3, 1);
    settle(rig, servers);
    Request.Builder create = TestClient.create("/file", 1).toBuilder();
    create.getCreateBuilder().clearReplication();
    for (int i = 0; i < 3; i++) {
      rig.housekeeping.makeRoomFor(HousekeepingRig.ROOT, create.build(), client);
      settle(rig, servers);
    }
    OpenedFile file = TestClient.ok(rig.execute(client, create.build())).getOpenedFile();
    assertThat(file.getFile().getReplication()).isEqualTo(3);
    assertThat(rig.machine.slabs().get(file.getGrants(0).getSlab()).getReplicasCount())
        .isEqualTo(3);
  }
}
