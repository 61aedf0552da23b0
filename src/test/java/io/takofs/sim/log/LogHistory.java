package io.takofs.sim.log;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** What a group has committed, as its members deliver it: each must deliver the same. */
final class LogHistory {
  /** The value of each index, from 1; null where a leader began its term. */
  private final List<Long> values = new ArrayList<>();

  private final Set<Long> seen = new HashSet<>();
  private final Set<Long> acknowledged = new HashSet<>();

  /** A member delivers an entry, after all before it. */
  void deliver(int member, long index, long value) {
    int at = (int) index - 1;
    while (values.size() <= at) {
      values.add(null);
    }
    Long other = values.get(at);
    if (other == null) {
      values.set(at, value);
      if (!seen.add(value)) {
        throw new AssertionError("value " + value + " is committed twice");
      }
    } else if (other != value) {
      throw new AssertionError(
          "member %d delivers %d at index %d, where %d was delivered before"
              .formatted(member, value, index, other));
    }
  }

  /** Whoever proposed the value was told that it is committed. */
  void acknowledge(long value) {
    acknowledged.add(value);
  }

  boolean isAcknowledged(long value) {
    return acknowledged.contains(value);
  }

  int acknowledgedCount() {
    return acknowledged.size();
  }

  /** The values of which somebody was told, and which are not there. */
  Set<Long> lost() {
    Set<Long> lost = new HashSet<>(acknowledged);
    lost.removeAll(seen);
    return lost;
  }
}
