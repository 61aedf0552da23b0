package io.takofs.server.loggroup;

import io.takofs.layout.Layout;
import io.takofs.proto.ClusterStatus;
import io.takofs.proto.RepairStatus;
import io.takofs.proto.Replica;
import io.takofs.proto.ServerEntry;
import io.takofs.proto.ServerHealth;
import io.takofs.proto.Slab;
import io.takofs.proto.SlabStatus;
import io.takofs.server.extent.GroupSlabs;
import io.takofs.server.report.Clusters;
import io.takofs.server.report.StuckRepair;
import io.takofs.server.slabs.Compaction;
import io.takofs.server.slabs.FileMoves;
import io.takofs.server.slabs.SlabLeases;
import io.takofs.server.slabs.SlabRepair;
import java.util.Map;
import java.util.TreeMap;

/**
 * Reports the slabs of a group to people: how many are in which state, how many replicas each
 * server keeps, and what is being repaired and moved.
 *
 * <p>Thread rule: the holder of the group's lock.
 */
public final class SlabReport {
  private final GroupSlabs slabs;
  private final SlabLeases leases;
  private final SlabRepair repair;
  private final FileMoves moves;
  private final Compaction compaction;

  public SlabReport(LogGroup group) {
    this.slabs = group.machine().slabs();
    this.leases = group.leases();
    this.repair = group.repair();
    this.moves = group.moves();
    this.compaction = group.compaction();
  }

  /** The slabs by state, and the servers that keep any. */
  public ClusterStatus build() {
    Map<String, SlabStatus.Builder> states = new TreeMap<>();
    Map<Integer, Long> replicas = new TreeMap<>();
    for (Slab slab : slabs.all()) {
      String state = state(slab);
      SlabStatus.Builder sum =
          states.computeIfAbsent(state, name -> SlabStatus.newBuilder().setState(name));
      long usable = (long) (slab.getEndUnit() - slab.getFirstUnit()) * Layout.UNIT_SIZE;
      sum.setSlabs(sum.getSlabs() + 1)
          .setBytes(sum.getBytes() + usable - slabs.freeBytesOf(slab.getId()));
      for (Replica replica : slab.getReplicasList()) {
        replicas.merge(replica.getServer(), 1L, Long::sum);
      }
    }
    RepairStatus repaired = repair.status();
    ClusterStatus.Builder status =
        ClusterStatus.newBuilder()
            .addAllWarnings(leases.refusals())
            .setRepair(compaction.status(moves.status(repaired)))
            .setFiles(repair.files());
    if (repaired.getWaitsForCount() > 0) {
      status.addWarnings(
          "%s are silent, more than a third: no copy is made again before they answer; start them, mend the network, or say tako repair --force if they will not be back"
              .formatted(Clusters.names(repaired.getWaitsForList())));
    }
    if (repaired.getGoesWithoutCount() > 0) {
      status.addWarnings(
          "copies are made again without waiting for %s, because somebody has said tako repair --force; start them, or take them out of the cluster: tako cluster remove N --lost"
              .formatted(Clusters.names(repaired.getGoesWithoutList())));
    }
    status.addAllWarnings(StuckRepair.of(repaired));
    states.values().forEach(status::addSlabs);
    replicas.forEach(
        (server, count) ->
            status.addServers(
                ServerHealth.newBuilder()
                    .setEntry(ServerEntry.newBuilder().setId(server))
                    .setReplicas(count)));
    return status.build();
  }

  private static String state(Slab slab) {
    if (slab.getClosed()) {
      return "closed";
    }
    return slab.getReplicasCount() < slab.getWanted() ? "short" : "open";
  }
}
