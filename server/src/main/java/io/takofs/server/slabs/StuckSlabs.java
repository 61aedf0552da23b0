package io.takofs.server.slabs;

import io.takofs.proto.Slab;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The slabs that go on waiting for a replica until somebody does something, and why.
 *
 * <p>Thread rule: the owner of the group.
 */
final class StuckSlabs {
  /** The thing that a slab waits for, which no server has. */
  enum Want {
    /** Each server that could get a replica has one. */
    SERVER,
    /** Servers could get a replica, but are full. */
    ROOM
  }

  private final SlabConditions conditions;
  private final RepairTargets targets;
  private final Map<Long, Want> wants = new HashMap<>(); // by slab

  StuckSlabs(SlabConditions conditions, RepairTargets targets) {
    this.conditions = conditions;
    this.targets = targets;
  }

  /** No server can get a replica of {@code slab} now. A server that failed is tried again. */
  void add(Slab slab) {
    List<Integer> leaving = conditions.leaving(slab);
    if (leaving.stream().anyMatch(each -> !targets.full(slab, each).isEmpty())) {
      wants.put(slab.getId(), Want.ROOM);
    } else if (leaving.stream().noneMatch(each -> targets.hasOther(slab, each))) {
      wants.put(slab.getId(), Want.SERVER);
    } else {
      remove(slab.getId());
    }
  }

  void remove(long slab) {
    wants.remove(slab);
  }

  /** Only {@code waiting} wait still. */
  void retain(Collection<Long> waiting) {
    wants.keySet().retainAll(waiting);
  }

  /** How many of {@code waiting} want that. */
  long count(Collection<Long> waiting, Want want) {
    return waiting.stream().filter(slab -> wants.get(slab) == want).count();
  }
}
