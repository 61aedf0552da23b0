package io.takofs.server.slabs;

import io.takofs.proto.Extent;
import io.takofs.proto.Replica;
import java.util.Collection;
import java.util.HashSet;
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

  /** A copy: that of {@code extent} in {@code replica}. */
  private record Copy(Replica replica, Extent extent) {}

  private final Set<Copy> known = new HashSet<>();
  private long found;

  /** Whether the copy of {@code extent} in {@code replica}, which is wrong, was not known. */
  boolean add(Replica replica, Extent extent) {
    boolean isNews = known.size() < KNOWN_MAX && known.add(new Copy(replica, extent));
    found += isNews ? 1 : 0;
    return isNews;
  }

  /** Copies that were added since the leader was started. */
  long found() {
    return found;
  }

  /** Of the copies in {@code replica} only those of {@code extents} are there still. */
  void retain(Replica replica, Collection<Extent> extents) {
    if (!known.isEmpty()) {
      Set<Extent> present = Set.copyOf(extents);
      known.removeIf(each -> each.replica.equals(replica) && !present.contains(each.extent));
    }
  }

  /** Forgets replicas that are gone. */
  void prune(Predicate<Replica> isPresent) {
    known.removeIf(each -> !isPresent.test(each.replica));
  }
}
