package io.takofs.sim.slab;

import io.takofs.layout.Layout;
import io.takofs.proto.LeasedSlab;
import io.takofs.proto.Replica;
import io.takofs.server.extent.Location;
import io.takofs.sim.SimDataServer;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/** A replicated slab, as its group knows it. */
final class Slab {
  final long id;
  final int wanted;
  final List<Replica> replicas = new ArrayList<>();
  final SlabUnit[] units = new SlabUnit[SimDataServer.ARENA_BYTES / Layout.UNIT_SIZE];

  /** Everybody who ever had a grant. */
  final Set<Long> grantees = new TreeSet<>();

  /** Of a weakened group: replicas that left and were not given back. */
  final Set<Replica> former = new LinkedHashSet<>();

  int version = 1;
  boolean open = true;

  /** Memories of members that were lost since all replicas were intact. */
  int losses;

  SlabRepair repair;

  Slab(long id, List<Replica> replicas) {
    this.id = id;
    this.wanted = replicas.size();
    this.replicas.addAll(replicas);
    for (int i = 0; i < units.length; i++) {
      units[i] = new SlabUnit();
    }
  }

  static Replica replica(int server, LeasedSlab leased) {
    return Replica.newBuilder()
        .setServer(server)
        .setArena(leased.getArena())
        .setIndex(leased.getIndex())
        .setLease(leased.getLease())
        .build();
  }

  /** The units that extents may use begin here: the arena's checksums are before. */
  static int firstUnit() {
    return 1;
  }

  static Location location(Replica replica, int unit) {
    return new Location(replica.getArena(), unit * Layout.UNIT_SIZE, Layout.UNIT_SIZE);
  }

  boolean isAt(int server) {
    return replicas.stream().anyMatch(replica -> replica.getServer() == server);
  }

  boolean isEmpty() {
    for (SlabUnit unit : units) {
      if (unit.use != SlabUnit.Use.FREE) {
        return false;
      }
    }
    return true;
  }
}
