package io.takofs.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.takofs.base.TakoException;
import io.takofs.layout.Layout;
import io.takofs.proto.Append;
import io.takofs.proto.CommitExtents;
import io.takofs.proto.Extent;
import io.takofs.proto.LeasedSlab;
import io.takofs.proto.OpenedFile;
import io.takofs.proto.Replica;
import io.takofs.proto.Reply;
import io.takofs.proto.ReportReplicas;
import io.takofs.proto.Request;
import io.takofs.proto.Slab;
import io.takofs.proto.Status;
import io.takofs.server.store.HeapStore;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** A leader whose data servers are scripted, and files whose extents are in their slabs. */
abstract class SlabRepairRig {
  SlowServers servers;
  HousekeepingRig rig;
  long client;
  long written;

  /** A leader of so many servers, with 16 slabs each. */
  void lead(int count, int copies) throws TakoException {
    servers =
        new SlowServers(
            IntStream.range(0, count).mapToObj(i -> LentSlabs.of(16)).toArray(LentSlabs[]::new));
    rig = new HousekeepingRig(new HeapStore(Long.MAX_VALUE), servers, copies, 1);
    client = rig.openSession();
    run(1);
  }

  /** A leader of servers in these racks, with so many slabs each. */
  void lead(int copies, int slabs, String... racks) throws TakoException {
    LentSlabs[] zones = Stream.of(racks).map(rack -> LentSlabs.of(slabs)).toArray(LentSlabs[]::new);
    lead(copies, zones, racks);
  }

  /** A leader of these servers in these racks. */
  void lead(int copies, LentSlabs[] zones, String... racks) throws TakoException {
    servers = new SlowServers(zones);
    for (int i = 0; i < racks.length; i++) {
      servers.place(i + 1, racks[i]);
    }
    rig = new HousekeepingRig(new HeapStore(Long.MAX_VALUE), servers, copies, 1);
    client = rig.openSession();
    run(1);
  }

  void restart() {
    rig = rig.restarted(servers);
  }

  /** Time passes, in which servers answer. */
  void run(int seconds) {
    long until = rig.nowMs() + seconds * 1000L;
    while (rig.nowMs() < until) {
      turn();
    }
  }

  void turn() {
    servers.deliver();
    rig.tick();
  }

  void await(BooleanSupplier condition, int seconds) {
    long until = rig.nowMs() + seconds * 1000L;
    while (!condition.getAsBoolean()) {
      assertThat(rig.nowMs()).as("it takes too long").isLessThan(until);
      turn();
    }
  }

  /** A closed file of so many extents of 64 KiB, which its writer stored at all replicas. */
  OpenedFile write(String path, int replication, int extents) throws TakoException {
    OpenedFile file = create(path, replication);
    List<Extent> grants = new ArrayList<>();
    for (int i = 0; i < extents; i++) {
      grants.add(grant(file));
      written = grants.get(i).getSlab();
    }
    commit(file, grants);
    return file;
  }

  /** Stores whole extents at all replicas, and closes the file with them. */
  void commit(OpenedFile file, List<Extent> grants) throws TakoException {
    long end = 0;
    CommitExtents.Builder commit =
        CommitExtents.newBuilder()
            .setFileId(file.getFile().getId())
            .setLeaseEpoch(file.getLeaseEpoch());
    for (int i = 0; i < grants.size(); i++) {
      Extent grant = grants.get(i);
      Extent extent =
          grant.toBuilder()
              .clearGrant()
              .setFileOffset(end)
              .setLength(grant.getCapacity())
              .setChecksumsCrc(i)
              .build();
      for (Replica replica : slab(grant.getSlab()).getReplicasList()) {
        servers.zone(replica.getServer()).store(replica.getLease(), extent);
      }
      commit.addExtents(extent);
      end += grant.getCapacity();
    }
    commit.setLength(end).setClose(true).setAllWritesCompleted(true);
    TestClient.ok(rig.execute(client, Request.newBuilder().setCommitExtents(commit).build()));
  }

  OpenedFile create(String path, int replication) throws TakoException {
    return TestClient.ok(rig.execute(client, TestClient.create(path, 0, replication)))
        .getOpenedFile();
  }

  OpenedFile append(String path) throws TakoException {
    Request append = Request.newBuilder().setAppend(Append.newBuilder().setPath(path)).build();
    return TestClient.ok(rig.execute(client, append)).getOpenedFile();
  }

  Extent grant(OpenedFile file) throws TakoException {
    return grant(file, 1);
  }

  Extent grant(OpenedFile file, long bytes) throws TakoException {
    Request grant = TestClient.grant(file, bytes);
    for (int i = 0; i < 20; i++) {
      try {
        Reply reply = rig.grant(client, grant);
        if (reply.getStatus() == Status.OK) {
          return reply.getGrants().getExtents(0);
        }
      } catch (TakoException e) {
        assertThat(e.status()).isEqualTo(Status.UNAVAILABLE);
      }
      run(1);
    }
    throw new AssertionError("no space");
  }

  /** The bytes of one of the extents of {@code slab} become wrong in {@code replica}. */
  void spoil(Slab slab, Replica replica, int extent) {
    servers
        .zone(replica.getServer())
        .spoil(replica.getLease(), rig.machine.committedIn(slab.getId()).get(extent));
  }

  void delete(String path) throws TakoException {
    TestClient.ok(rig.execute(client, TestClient.delete(path)));
  }

  /** The client says that {@code server}, which keeps {@code slab}, does not answer it. */
  void cannotUse(long slab, int server) {
    ReportReplicas.Report report =
        ReportReplicas.Report.newBuilder().setSlab(slab).setServer(server).build();
    rig.leases.report(client, ReportReplicas.newBuilder().addReports(report).build());
  }

  Slab slab(long id) {
    return rig.machine.slabs().get(id);
  }

  /** The slab of the file that was written last; others are leased ahead. */
  Slab dataSlab() {
    return slab(written);
  }

  List<Integer> serversOf(Slab slab) {
    return slab.getReplicasList().stream().map(Replica::getServer).sorted().toList();
  }

  /** Racks that have a replica. */
  long racksOf(Slab slab) {
    return slab.getReplicasList().stream()
        .map(replica -> servers.rack(replica.getServer()))
        .distinct()
        .count();
  }

  /**
   * Whether all slabs that are used, at least one, are open, with replicas that have every
   * committed extent.
   */
  boolean isWhole(int copies) {
    int used = 0;
    for (Slab slab : rig.machine.slabs().all()) {
      if (rig.machine.slabs().isWhollyFree(slab.getId())) {
        continue;
      }
      used++;
      if (slab.getClosed() || slab.getReplicasCount() != Math.min(copies, slab.getWanted())) {
        return false;
      }
      for (Replica replica : slab.getReplicasList()) {
        LentSlabs zone = servers.zone(replica.getServer());
        if (!zone.isHeld(replica.getLease())) {
          return false;
        }
        for (Extent extent : rig.machine.committedIn(slab.getId())) {
          assertThat(zone.has(replica.getLease(), extent))
              .as("%s of slab %d lacks %s", replica, slab.getId(), extent)
              .isTrue();
        }
      }
    }
    return used > 0;
  }

  /** Every lease of the servers is of a slab, or counts as free: none is forgotten. */
  void checkNoLeak(int... living) {
    run(40);
    long free = 0;
    long capacity = 0;
    for (int server : living) {
      free += servers.zone(server).usage().getFree() + rig.machine.slabs().freeBytesAt(server);
      capacity += servers.zone(server).usage().getCapacity();
      for (LeasedSlab slab : servers.zone(server).held()) {
        boolean placed =
            rig.machine.slabs().all().stream()
                .flatMap(each -> each.getReplicasList().stream())
                .anyMatch(
                    replica ->
                        replica.getServer() == server && replica.getLease() == slab.getLease());
        free += placed ? 0 : (long) (slab.getEndUnit() - slab.getFirstUnit()) * Layout.UNIT_SIZE;
      }
    }
    assertThat(rig.supply.usage().getCapacity())
        .as("those that live are named")
        .isEqualTo(capacity);
    assertThat(rig.supply.usage().getFree()).isEqualTo(free);
  }
}
