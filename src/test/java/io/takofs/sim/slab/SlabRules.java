package io.takofs.sim.slab;

import io.takofs.layout.Layout;
import io.takofs.memory.MappedMemory;
import io.takofs.proto.Replica;
import io.takofs.server.extent.Location;
import io.takofs.sim.SimDataServer;
import java.io.IOException;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * What must be so of the records of slabs after every step, as the models have it, and I23 and I24
 * of the protocol: who may not store has nothing under way, and nobody reads what is free.
 */
final class SlabRules {
  /** Higher than any grant that is fenced. */
  private static final long NEVER_FENCED = -1;

  private final SlabCluster cluster;
  private final Map<Long, Seen> seen = new HashMap<>();
  private final Set<Replica> left = new HashSet<>();

  SlabRules(SlabCluster cluster) {
    this.cluster = cluster;
  }

  /** A slab as it was after the last step. */
  private static final class Seen {
    private int version;
    private boolean open;
    private List<Replica> replicas = List.of();
    private final long[][] cells;
    private final boolean[] free;

    Seen(Slab slab) {
      cells = new long[slab.units.length][SlabUnit.CELLS];
      free = new boolean[slab.units.length];
      open = slab.open;
    }
  }

  void check(Iterable<Slab> slabs) {
    for (Slab slab : slabs) {
      Seen before = seen.get(slab.id);
      boolean isNew = before == null;
      if (isNew) {
        before = new Seen(slab);
        seen.put(slab.id, before);
      }
      checkReplicas(slab, before, isNew);
      for (int unit = 0; unit < slab.units.length; unit++) {
        checkUnit(slab, unit, before.cells[unit]);
        boolean free = slab.units[unit].use == SlabUnit.Use.FREE;
        if (free && !before.free[unit] && unit >= Slab.firstUnit()) {
          checkFree(slab, unit);
        }
        before.free[unit] = free;
      }
      for (Slab other : slabs) {
        if (other.id != slab.id) {
          checkPlaces(slab, other);
        }
      }
    }
  }

  /**
   * S5 to S7: the replicas are as many as ever, change with the version of a closed slab, and none
   * comes back under the lease number under which it left.
   */
  private void checkReplicas(Slab slab, Seen before, boolean isNew) {
    check(slab.replicas.size() == slab.wanted, slab, "has %d replicas", slab.replicas.size());
    check(slab.version >= before.version, slab, "had version %d", before.version);
    if (!slab.replicas.equals(before.replicas)) {
      check(isNew || !before.open, slab, "changed its replicas while it was open", 0);
      check(slab.version > before.version, slab, "has other replicas of that version", 0);
      before.replicas.stream().filter(each -> !slab.replicas.contains(each)).forEach(left::add);
      before.replicas = List.copyOf(slab.replicas);
      Arrays.fill(before.free, false); // nobody may be at what joined either
    }
    for (Replica replica : slab.replicas) {
      check(
          left.isEmpty() || !left.contains(replica),
          slab,
          "has a replica again that left, at server %d",
          replica.getServer());
    }
    before.version = slab.version;
    before.open = slab.open;
  }

  /** S8, S9: the server of a replica has it leased under its number. */
  void checkLease(Slab slab, Replica replica, SimDataServer server) {
    try {
      check(
          !server.isFenced(
              Slab.location(replica, Slab.firstUnit()), replica.getLease(), NEVER_FENCED),
          slab,
          "has a replica that is not leased, at server %d",
          server.id());
    } catch (IOException e) {
      throw new AssertionError("no place of a slab: " + replica, e);
    }
  }

  /** S1, S2, S4, S10: a grant lives in an open slab, and what is committed stays as it is. */
  private static void checkUnit(Slab slab, int index, long[] before) {
    SlabUnit unit = slab.units[index];
    check(!unit.live || slab.open, slab, "is closed, and a grant lives in unit %d", index);
    boolean rests = unit.use == SlabUnit.Use.FREE || unit.use == SlabUnit.Use.QUARANTINE;
    check(!rests || !unit.live, slab, "has a grant of a unit that nobody has, %d", index);
    boolean free = unit.use == SlabUnit.Use.FREE;
    check(!free || unit.settled, slab, "has a unit that is free and may be written, %d", index);
    check(
        unit.use != SlabUnit.Use.COMMITTED || unit.cells[0] != 0,
        slab,
        "has nothing in the committed unit %d",
        index);
    for (int cell = 0; cell < SlabUnit.CELLS; cell++) {
      long now = unit.cells[cell];
      check(!rests || now == 0, slab, "has a record of what was deleted in unit %d", index);
      check(
          now == before[cell] || now == 0 || before[cell] == 0,
          slab,
          "has other committed bytes in unit %d",
          index);
      before[cell] = now;
    }
  }

  /** I24: a unit is free when its last writer stores nothing there any more, and nobody reads. */
  private void checkFree(Slab slab, int index) {
    for (Replica replica : slab.replicas) {
      SimDataServer server = cluster.server(replica.getServer());
      if (server != null) {
        Location at = Slab.location(replica, index);
        check(
            server.holds().held(List.of(at)).isEmpty(),
            slab,
            "(I24) has a reader in the free unit %d",
            index);
        MappedMemory arena = server.arenas().get(at.arena());
        long client = slab.units[index].client;
        check(
            !cluster.network().isStoring(client, arena, at.offset(), at.capacity()),
            slab,
            "(I24) has a store under way to the free unit %d",
            index);
      }
    }
  }

  /**
   * I23: a store lands in a unit that its client was granted last, and may still write; not in one
   * that is free or somebody else's, nor in a replica that is being made.
   */
  void checkStore(Iterable<Slab> slabs, MappedMemory arena, int offset, long client) {
    for (Slab slab : slabs) {
      for (Replica replica : slab.replicas) {
        if (isAt(replica, arena)) {
          int unit = offset / Layout.UNIT_SIZE;
          check(
              slab.units[unit].mayStore(client),
              slab,
              "(I23) has a store of client " + client + " in unit %d",
              unit);
        }
      }
      check(
          slab.repair == null || slab.repair.target == null || !isAt(slab.repair.target, arena),
          slab,
          "(I23) has a store of client %d where a replica is being made",
          (int) client);
    }
  }

  private boolean isAt(Replica replica, MappedMemory arena) {
    SimDataServer server = cluster.server(replica.getServer());
    return server != null && server.arenas().get(replica.getArena()) == arena;
  }

  /** No two slabs are in one place. */
  private static void checkPlaces(Slab slab, Slab other) {
    for (Replica one : slab.replicas) {
      for (Replica two : other.replicas) {
        check(
            one.getServer() != two.getServer()
                || one.getArena() != two.getArena()
                || one.getIndex() != two.getIndex(),
            slab,
            "has a replica where slab %d has one",
            (int) other.id);
      }
    }
  }

  private static void check(boolean holds, Slab slab, String what, int number) {
    if (!holds) {
      throw new AssertionError(
          "slab " + slab.id + " of version " + slab.version + " " + what.formatted(number));
    }
  }
}
