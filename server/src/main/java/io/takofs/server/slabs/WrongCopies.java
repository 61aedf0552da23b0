package io.takofs.server.slabs;

import io.takofs.proto.Extent;
import io.takofs.proto.Replica;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;

/**
 * The copies of extents that were found wrong and are there still, because no server has room for
 * another or there is no other: each period finds them again, and people hear of each once.
 *
 * <p>Thread rule: the owner of the group.
 */
final class WrongCopies {
  /** Copies that are remembered at most; nobody hears of more before some of those are gone. */
  static final int KNOWN_MAX = 16_384;

  private final Map<Replica, Set<Extent>> known = new HashMap<>();
  private int size;
  private long found;

  /** Whether the copy of {@code extent} in {@code replica}, which is wrong, was not known. */
  boolean add(Replica replica, Extent extent) {
    if (size == KNOWN_MAX || !known.computeIfAbsent(replica, r -> new HashSet<>()).add(extent)) {
      return false;
    }
    size++;
    found++;
    return true;
  }

  /** Copies that were added since the leader was started. */
  long found() {
    return found;
  }

  /** Of the copies in {@code replica} only those of {@code extents} are there still. */
  void retain(Replica replica, Collection<Extent> extents) {
    Set<Extent> here = known.get(replica);
    if (here != null) {
      size -= here.size();
      here.retainAll(Set.copyOf(extents));
      size += here.size();
    }
  }

  /** Forgets replicas that are gone. */
  void prune(Predicate<Replica> isPresent) {
    known.entrySet().removeIf(each -> each.getValue().isEmpty() || !isPresent.test(each.getKey()));
    size = known.values().stream().mapToInt(Set::size).sum();
  }
}
