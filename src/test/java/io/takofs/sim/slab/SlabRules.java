package io.takofs.sim.slab;

import io.takofs.proto.Replica;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** What must be so of the records of slabs after every step, as the model of slabs has it. */
final class SlabRules {
  private final Map<Long, Seen> seen = new HashMap<>();

  /** A slab as it was after the last step. */
  private static final class Seen {
    private int version;
    private boolean open;
    private List<Replica> replicas;
    private final long[][] cells;

    Seen(Slab slab) {
      cells = new long[slab.units.length][SlabUnit.CELLS];
      replicas = List.copyOf(slab.replicas);
      open = slab.open;
    }
  }

  void check(Iterable<Slab> slabs) {
    for (Slab slab : slabs) {
      Seen before = seen.computeIfAbsent(slab.id, id -> new Seen(slab));
      checkReplicas(slab, before);
      for (int unit = 0; unit < slab.units.length; unit++) {
        checkUnit(slab, unit, before.cells[unit]);
      }
      for (Slab other : slabs) {
        if (other.id != slab.id) {
          checkPlaces(slab, other);
        }
      }
    }
  }

  /** S5, S6: the replicas are as many as ever, and change with the version of a closed slab. */
  private static void checkReplicas(Slab slab, Seen before) {
    check(slab.replicas.size() == slab.wanted, slab, "has %d replicas", slab.replicas.size());
    check(slab.version >= before.version, slab, "had version %d", before.version);
    if (!slab.replicas.equals(before.replicas)) {
      check(!before.open, slab, "changed its replicas while it was open", 0);
      check(slab.version > before.version, slab, "has other replicas of that version", 0);
      before.replicas = List.copyOf(slab.replicas);
    }
    before.version = slab.version;
    before.open = slab.open;
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
