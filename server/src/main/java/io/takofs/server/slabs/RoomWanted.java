package io.takofs.server.slabs;

import io.takofs.proto.Replica;
import io.takofs.proto.Slab;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.LongPredicate;

/**
 * Which slabs lack a replica that could be on a server if that had room. All are remembered and not
 * only one a server: a replica has as many units as its slab, so what makes room for one may be too
 * short for another.
 *
 * <p>Thread rule: the owner of the group.
 */
final class RoomWanted {
  private final Map<Integer, Set<Long>> slabs = new HashMap<>(); // by full server

  void add(int server, long slab) {
    slabs.computeIfAbsent(server, any -> new TreeSet<>()).add(slab);
  }

  /** Whether a server of {@code free} is without room for a slab of which {@code isFor} is true. */
  boolean isIn(Slab free, LongPredicate isFor) {
    return free.getReplicasList().stream()
        .map(Replica::getServer)
        .flatMap(server -> slabs.getOrDefault(server, Set.of()).stream())
        .anyMatch(isFor::test);
  }

  /** Forgets the slabs of which {@code lacks} is not true any more. */
  void retain(LongPredicate lacks) {
    slabs.values().forEach(wanting -> wanting.removeIf(slab -> !lacks.test(slab)));
    slabs.values().removeIf(Set::isEmpty);
  }

  boolean isEmpty() {
    return slabs.isEmpty();
  }

  void clear() {
    slabs.clear();
  }
}
