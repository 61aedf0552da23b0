package io.takofs.server.extent;

import io.takofs.base.Invariant;
import io.takofs.layout.Layout;
import io.takofs.proto.Replica;
import io.takofs.proto.Slab;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Free units of the group's slabs. The choice depends on nothing but the slabs and which of their
 * units are free, so that it is the same on every replay: of the open slabs that are to have as
 * many copies as are asked for, one with a copy near the writer first, then the tightest fitting
 * frame, then the lowest slab.
 *
 * <p>Thread rule: the state machine's thread.
 */
final class ExtentAllocator {
  /** Open slabs that are to have as many copies, and one of them on a server; 0 for any server. */
  private record Kind(int copies, int server) {}

  private static final class Entry {
    final SlabUnits units;
    List<SlabIndex> indexes = List.of();
    List<Integer> servers = List.of();

    Entry(SlabUnits units) {
      this.units = units;
    }
  }

  private final Map<Long, Entry> slabs = new TreeMap<>();
  private final Map<Kind, SlabIndex> indexes = new HashMap<>();
  private final Set<Long> changed = new TreeSet<>();
  private final Map<Integer, Long> unitsAt = new HashMap<>(); // of all replicas, by server
  private final Map<Integer, Long> freeUnitsAt = new HashMap<>(); // of them
  private long units;
  private long freeUnits;

  /** A slab comes, all of it free. */
  void add(Slab slab) {
    SlabUnits all = new SlabUnits(slab.getId(), slab.getFirstUnit(), slab.getEndUnit());
    Entry entry = new Entry(all);
    slabs.put(slab.getId(), entry);
    units += all.units();
    freeUnits += all.freeUnits();
    changed.add(slab.getId());
    index(entry, slab);
    countAt(entry, all.units(), all.freeUnits());
  }

  private void countAt(Entry entry, long added, long freed) {
    for (int server : entry.servers) {
      unitsAt.merge(server, added, Long::sum);
      freeUnitsAt.merge(server, freed, Long::sum);
    }
  }

  /** A slab goes, all of which is free. */
  void remove(Slab slab) {
    Entry entry = entry(slab.getId());
    Invariant.check(entry.units.isWhollyFree(), () -> "not free: slab " + slab.getId());
    leaveIndexes(entry);
    countAt(entry, -entry.units.units(), -entry.units.freeUnits());
    slabs.remove(slab.getId());
    units -= entry.units.units();
    freeUnits -= entry.units.freeUnits();
    changed.add(slab.getId());
  }

  /** A slab opens or closes, or has other replicas. */
  void replace(Slab after) {
    Entry entry = entry(after.getId());
    leaveIndexes(entry);
    countAt(entry, -entry.units.units(), -entry.units.freeUnits());
    index(entry, after);
    countAt(entry, entry.units.units(), entry.units.freeUnits());
  }

  private void index(Entry entry, Slab slab) {
    entry.servers = slab.getReplicasList().stream().map(Replica::getServer).toList();
    if (slab.getClosed()) {
      return;
    }
    List<SlabIndex> of = new ArrayList<>();
    of.add(index(slab.getWanted(), 0));
    for (Replica replica : slab.getReplicasList()) {
      of.add(index(slab.getWanted(), replica.getServer()));
    }
    entry.indexes = of;
    for (SlabIndex index : of) {
      index.change(entry.units, 0, entry.units.orders(), entry.units.freeUnits());
    }
  }

  private SlabIndex index(int copies, int server) {
    return indexes.computeIfAbsent(new Kind(copies, server), kind -> new SlabIndex());
  }

  private static void leaveIndexes(Entry entry) {
    for (SlabIndex index : entry.indexes) {
      index.change(entry.units, entry.units.orders(), 0, -entry.units.freeUnits());
    }
    entry.indexes = List.of();
  }

  /** Bytes that extents can ever have in the slabs there are. */
  long capacityBytes() {
    return units * Layout.UNIT_SIZE;
  }

  /** Bytes not handed out. */
  long freeBytes() {
    return freeUnits * Layout.UNIT_SIZE;
  }

  /**
   * Bytes that extents of files with so many copies can be granted now, in slabs without a copy at
   * the {@code avoided} servers.
   */
  long freeBytes(int copies, Set<Integer> avoided) {
    SlabIndex index = indexes.get(new Kind(copies, 0));
    if (index == null) {
      return 0;
    }
    long units = index.freeUnits();
    if (avoided.size() == 1) {
      SlabIndex there = indexes.get(new Kind(copies, avoided.iterator().next()));
      units -= there == null ? 0 : there.freeUnits();
    } else if (!avoided.isEmpty()) {
      units =
          slabs.values().stream()
              .filter(entry -> entry.indexes.contains(index) && !isAt(entry, avoided))
              .mapToLong(entry -> entry.units.freeUnits())
              .sum();
    }
    return units * Layout.UNIT_SIZE;
  }

  /** Bytes that extents of such files can be granted now in slabs with a copy at {@code server}. */
  long freeBytesNear(int copies, int server) {
    SlabIndex there = indexes.get(new Kind(copies, server));
    return there == null ? 0 : there.freeUnits() * Layout.UNIT_SIZE;
  }

  private static boolean isAt(Entry entry, Set<Integer> servers) {
    return entry.servers.stream().anyMatch(servers::contains);
  }

  /** Bytes of a slab that are not handed out. */
  long freeBytesOf(long slab) {
    return (long) entry(slab).units.freeUnits() * Layout.UNIT_SIZE;
  }

  /** Bytes of the replicas at {@code server} that are not handed out. */
  long freeBytesAt(int server) {
    return freeUnitsAt.getOrDefault(server, 0L) * Layout.UNIT_SIZE;
  }

  /** Bytes of the replicas at {@code server} that are handed out. */
  long usedBytesAt(int server) {
    return unitsAt.getOrDefault(server, 0L) * Layout.UNIT_SIZE - freeBytesAt(server);
  }

  /** Whether nothing of a slab is handed out. */
  boolean isWhollyFree(long slab) {
    return entry(slab).units.isWhollyFree();
  }

  /**
   * Takes the largest extent there is of at most {@code bytes} rounded up to a size that extents
   * have, and marks it used.
   *
   * @param where the kind of slab
   * @return its place, or null when nothing is free
   */
  SlabRange allocate(long bytes, Wanted where) {
    SlabIndex all = indexes.get(new Kind(where.copies(), 0));
    if (all == null) {
      return null;
    }
    SlabIndex nearby =
        where.near() == 0 ? null : indexes.get(new Kind(where.copies(), where.near()));
    long wanted = (Math.max(bytes, 1) + Layout.UNIT_SIZE - 1) / Layout.UNIT_SIZE;
    int most = Math.min(SlabUnits.ORDER_MAX, log2((int) Math.min(wanted, SlabRange.SLAB_UNITS)));
    for (int order = most; order >= 0; order--) {
      SlabRange found = nearby == null ? null : allocate(nearby, order, where.avoided());
      found = found == null ? allocate(all, order, where.avoided()) : found;
      if (found != null) {
        return found;
      }
    }
    return null;
  }

  private SlabRange allocate(SlabIndex index, int order, Set<Integer> avoided) {
    for (int larger = order; larger <= SlabUnits.ORDER_MAX; larger++) {
      SlabUnits found =
          index.first(larger, slab -> avoided.isEmpty() || !isAt(entry(slab), avoided));
      if (found != null) {
        return allocate(found, order, larger);
      }
    }
    return null;
  }

  private SlabRange allocate(SlabUnits slab, int order, int frame) {
    Entry entry = entry(slab.slab());
    int before = entry.units.orders();
    SlabRange range = entry.units.allocate(order, frame);
    changed(entry, before, -range.units());
    return range;
  }

  /** Marks an extent used that is known from stored state. */
  void take(SlabRange extent) {
    Entry entry = entry(extent.slab());
    int before = entry.units.orders();
    entry.units.take(extent);
    changed(entry, before, -extent.units());
  }

  /** Gives an extent back. */
  void free(SlabRange extent) {
    Entry entry = entry(extent.slab());
    int before = entry.units.orders();
    entry.units.free(extent);
    changed(entry, before, extent.units());
  }

  private void changed(Entry entry, int ordersBefore, int unitsFreed) {
    freeUnits += unitsFreed;
    countAt(entry, 0, unitsFreed);
    changed.add(entry.units.slab());
    int orders = entry.units.orders();
    for (SlabIndex index : entry.indexes) {
      index.change(entry.units, ordersBefore, orders, unitsFreed);
    }
  }

  private Entry entry(long slab) {
    Entry entry = slabs.get(slab);
    Invariant.check(entry != null, () -> "no such slab: " + slab);
    return entry;
  }

  // ---- what is written down of it

  /** Slabs whose units have changed since this was last asked. */
  List<Long> takeChanged() {
    List<Long> taken = List.copyOf(changed);
    changed.clear();
    return taken;
  }

  /** A bit a unit, set when it is used; null when there is no such slab, or nothing is used. */
  byte[] used(long slab) {
    Entry entry = slabs.get(slab);
    if (entry == null || entry.units.isWhollyFree()) {
      return null;
    }
    return entry.units.used();
  }

  /** Marks used what {@link #used} said once of a slab that is all free. */
  void restore(long slab, byte[] used) {
    Entry entry = entry(slab);
    int before = entry.units.orders();
    int taken = entry.units.freeUnits();
    entry.units.restore(used);
    changed(entry, before, entry.units.freeUnits() - taken);
    changed.remove(slab);
  }

  private static int log2(int units) {
    return Integer.SIZE - 1 - Integer.numberOfLeadingZeros(units);
  }
}
