package io.takofs.sim.log;

import java.util.HashSet;
import java.util.NavigableMap;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;

/** The entries that a group has committed: each member must deliver the same. */
final class LogHistory {
  private final NavigableMap<Long, Long> values = new TreeMap<>(); // by index
  private final Set<Long> seen = new HashSet<>();
  private final Set<Long> acknowledged = new HashSet<>();
  private final SortedMap<Long, Long> byTerm = new TreeMap<>(); // highest index acknowledged
  private long acknowledgedIndex;
  private int reads;
  private int leaseReads;

  /** A member delivers an entry, after all before it. */
  void deliver(int member, long index, long value) {
    Long other = values.putIfAbsent(index, value);
    if (other == null) {
      if (!seen.add(value)) {
        throw new AssertionError("value " + value + " is committed twice");
      }
    } else if (other != value) {
      throw new AssertionError(
          "member %d delivers %d at index %d, where %d was delivered before"
              .formatted(member, value, index, other));
    }
  }

  /** The values that each member must have delivered in the end, by index. */
  NavigableMap<Long, Long> values() {
    return values;
  }

  /**
   * The user who proposed the value was told that it is committed.
   *
   * @param promised term that the member had promised which said so: it was committed in that or an
   *     earlier one
   */
  void acknowledge(long index, long value, long promised) {
    acknowledged.add(value);
    byTerm.merge(promised, index, Math::max);
    acknowledgedIndex = Math.max(acknowledgedIndex, index);
  }

  /** The highest index of which somebody was told in a term before {@code term}. */
  long acknowledgedBefore(long term) {
    return byTerm.headMap(term).values().stream().mapToLong(Long::longValue).max().orElse(0);
  }

  /** The highest index of which somebody was told. */
  long acknowledgedIndex() {
    return acknowledgedIndex;
  }

  /** A read was answered. */
  void countRead() {
    reads++;
  }

  /** A read was answered by a lease. */
  void countLeaseRead() {
    leaseReads++;
  }

  int leaseReads() {
    return leaseReads;
  }

  int reads() {
    return reads;
  }

  boolean isAcknowledged(long value) {
    return acknowledged.contains(value);
  }

  int acknowledgedCount() {
    return acknowledged.size();
  }
}
