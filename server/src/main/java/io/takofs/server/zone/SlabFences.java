package io.takofs.server.zone;

import io.takofs.layout.Layout;
import io.takofs.proto.Extent;
import io.takofs.server.extent.Grant;
import io.takofs.server.extent.Location;
import io.takofs.server.extent.SlabRange;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Keeps writers out of extents and of returned slabs, and remembers them until it is certain that
 * they are out.
 *
 * <p>A connection counts if it was there when the fence was asked for first: a client asks the
 * leader on each new connection whether its grants live before it stores anything, and a leader
 * asks for a fence only after it has ended the grant.
 *
 * <p>Thread rule: any thread. Its own lock is held over those of {@link SlabTable}, {@link
 * DataConnections} and {@link WriteWindows}.
 */
final class SlabFences {
  private final SlabTable table;
  private final DataConnections connections;
  private final WriteWindows windows;
  private final ReaderHolds holds;

  /** Fences that are not done yet, by slot, with the number of the last connection that counts. */
  private final Map<Integer, Map<Writer, Long>> asked = new HashMap<>();

  /** Slabs that were returned since the start, by slot. */
  private final Map<Integer, Returned> returned = new HashMap<>();

  /**
   * A grant in some units of a slab.
   *
   * @param unit the first, from the begin of the slab
   */
  record Writer(int slot, int group, long lease, int unit, int units, long grantee, long grant) {
    private boolean covers(int someUnit) {
      return unit <= someUnit && someUnit < unit + units;
    }
  }

  /** The clients that may still write to a returned slab, over connections up to a number. */
  private record Returned(long lease, List<Long> grantees, long lastConnection) {}

  SlabFences(
      SlabTable table, DataConnections connections, WriteWindows windows, ReaderHolds holds) {
    this.table = table;
    this.connections = connections;
    this.windows = windows;
    this.holds = holds;
  }

  /**
   * Keeps a writer out of {@code extent}, and says whether it is.
   *
   * @param isHeld whether a reader may be looking at the extent
   * @param force whether to end the writer's connections
   */
  synchronized boolean close(Writer writer, Location extent, boolean isHeld, boolean force) {
    SlabTable.Fence known = known(writer);
    if (known != SlabTable.Fence.OPEN) {
      forget(writer);
      return known == SlabTable.Fence.OVER || !isHeld;
    }
    if (writer.grantee == 0) {
      return !isHeld;
    }
    if (writer.grantee == Grant.COPIER) { // this server itself, which asks before each store
      return !isHeld && close(writer);
    }
    long last = connectionsThatCount(writer);
    windows.close(extent);
    if (!connections.isFencedUpTo(writer.grantee, extent, last)) {
      if (force) {
        connections.fence(writer.grantee, last);
      }
      return false;
    }
    if (isHeld || !close(writer)) {
      return false;
    }
    forget(writer);
    return true;
  }

  private boolean close(Writer writer) {
    return table.close(
        writer.slot, writer.group, writer.lease, writer.unit, writer.units, writer.grant);
  }

  /**
   * Whether the answer does not depend on readers: nobody reads under a lease that is over. That
   * the writer was fenced before says nothing of them, because they may have come since.
   */
  synchronized boolean isAnswered(Writer writer) {
    return known(writer) == SlabTable.Fence.OVER;
  }

  private SlabTable.Fence known(Writer writer) {
    return table.fence(
        writer.slot, writer.group, writer.lease, writer.unit, writer.units, writer.grant);
  }

  private long connectionsThatCount(Writer writer) {
    return asked
        .computeIfAbsent(writer.slot, slot -> new HashMap<>())
        .computeIfAbsent(writer, first -> connections.lastNumber());
  }

  private void forget(Writer writer) {
    asked.computeIfPresent(
        writer.slot,
        (slot, writers) -> {
          writers.remove(writer);
          return writers.isEmpty() ? null : writers;
        });
  }

  /**
   * Lets a client write through windows, in one step with the look whether it may.
   *
   * @param extent in the arena, with the grant's number
   * @return false when the grant is closed, or a later one has windows there
   */
  synchronized boolean open(
      int slot, long lease, long clientId, long fileId, Extent extent, ReplyGate gate) {
    Location location = Location.of(extent);
    if (isClosed(slot, lease, location, extent.getGrant())
        || windows.hasLater(location, extent.getGrant())) {
      return false;
    }
    windows.open(clientId, fileId, List.of(extent), gate);
    return true;
  }

  /** Whether the grant must not be given the means to write an extent, or the lease is over. */
  synchronized boolean isClosed(int slot, long lease, Location extent, long grant) {
    int first = unitOfSlab(extent.offset());
    for (int unit = first; unit < first + extent.capacity() / Layout.UNIT_SIZE; unit++) {
      if (isClosed(slot, lease, unit, grant)) {
        return true;
      }
    }
    return false;
  }

  private boolean isClosed(int slot, long lease, int unit, long grant) {
    return table.isClosed(slot, lease, unit, grant)
        || asked.getOrDefault(slot, Map.of()).keySet().stream()
            .anyMatch(
                writer ->
                    writer.covers(unit)
                        && writer.lease == lease
                        && Long.compareUnsigned(writer.grant, grant) >= 0);
  }

  /** A slab comes back, where {@code grantees} may still write. Nothing for another lease. */
  synchronized void giveBack(int slot, int group, long lease, List<Long> grantees) {
    if (!table.giveBack(slot, group, lease)) {
      return;
    }
    asked.remove(slot);
    windows.close(range(slot));
    returned.put(slot, new Returned(lease, List.copyOf(grantees), connections.lastNumber()));
  }

  /**
   * Frees the returned slabs that nobody can write or reads any more.
   *
   * @param force whether to end connections that are in the way
   */
  void freeReturned(boolean force) {
    List<Integer> slots = table.returned();
    if (slots.isEmpty()) {
      return;
    }
    List<Location> ranges = slots.stream().map(this::range).toList();
    Set<Location> held = new HashSet<>(holds.held(ranges)); // asks the kernel: without the lock
    for (int i = 0; i < slots.size(); i++) {
      if (!held.contains(ranges.get(i))) {
        freeUnlessWritable(slots.get(i), ranges.get(i), force);
      }
    }
  }

  private synchronized void freeUnlessWritable(int slot, Location range, boolean force) {
    Returned slab = returned.get(slot);
    boolean fenced;
    if (slab == null) {
      // It was returned to an earlier incarnation, whose connections have all ended but for those
      // of clients that still map the arenas.
      fenced = !connections.hasFormerPeers() && !windows.isWritable(range);
    } else {
      fenced = true;
      for (long grantee : slab.grantees) {
        if (!connections.isFencedUpTo(grantee, range, slab.lastConnection)) {
          fenced = false;
          if (force) {
            connections.fence(grantee, slab.lastConnection);
          }
        }
      }
      fenced &= !windows.isWritable(range);
    }
    if (fenced && table.free(slot)) {
      returned.remove(slot);
    }
  }

  private Location range(int slot) {
    SlabPlaces places = table.places();
    return new Location(
        places.arena(slot),
        places.index(slot) * Layout.SLAB_SIZE + places.firstUnit(slot) * Layout.UNIT_SIZE,
        Math.toIntExact(places.bytes(slot)));
  }

  /** The unit of its slab that an offset in an arena lies in. */
  static int unitOfSlab(int arenaOffset) {
    return arenaOffset / Layout.UNIT_SIZE % SlabRange.SLAB_UNITS;
  }
}
