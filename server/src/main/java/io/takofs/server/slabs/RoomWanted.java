package io.takofs.server.slabs;

import io.takofs.proto.Replica;
import io.takofs.proto.Slab;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/**
 * For which slabs a replica could be made on a server if that had room. Slabs differ in the units
 * that they have, and what makes room for one may be too short for another; but there are few kinds
 * of them, so those are remembered, and not the slabs.
 *
 * <p>Thread rule: the owner of the group.
 */
final class RoomWanted {
  /** The units of a slab. */
  private record Units(int first, int end) {
    static Units of(Slab slab) {
      return new Units(slab.getFirstUnit(), slab.getEndUnit());
    }
  }

  /** Slabs that go for it in one walk at most: writers need free slabs, too. */
  static final int WALK_MAX = 4;

  /** By full server, since the last walk through the slabs began, and in the walk before. */
  private Map<Integer, Set<Units>> now = new HashMap<>();

  private Map<Integer, Set<Units>> before = new HashMap<>();
  private int made; // in this walk

  /** {@code slab} lacks a replica for which {@code server} has no room. */
  void add(int server, Slab slab) {
    now.computeIfAbsent(server, any -> new HashSet<>()).add(Units.of(slab));
  }

  /** Whether what the replicas of {@code free} take is room for a slab that lacks one. */
  boolean isIn(Slab free) {
    return isIn(now, free) || isIn(before, free);
  }

  private static boolean isIn(Map<Integer, Set<Units>> wanted, Slab free) {
    return free.getReplicasList().stream()
        .map(Replica::getServer)
        .flatMap(server -> wanted.getOrDefault(server, Set.of()).stream())
        .anyMatch(units -> free.getFirstUnit() <= units.first && free.getEndUnit() >= units.end);
  }

  boolean isEmpty() {
    return now.isEmpty() && before.isEmpty();
  }

  /** A walk through the slabs begins: what is not said again in it is forgotten after it. */
  void turn() {
    before = now;
    now = new HashMap<>();
    made = 0;
  }

  /** A slab went; after {@link #WALK_MAX} of them the room is used before others go. */
  void made() {
    made++;
    if (made >= WALK_MAX) {
      now.clear();
      before.clear();
    }
  }
}
