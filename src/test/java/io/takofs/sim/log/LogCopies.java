package io.takofs.sim.log;

import io.takofs.server.log.GroupConfig;
import java.util.List;
import java.util.Set;
import java.util.function.Supplier;

/**
 * Whether a majority of the members has what was acknowledged last, and all before it: a state and
 * the log that continues it. A member whose bits have changed counts, because that is no fault of
 * the log; one that has given its state up does not. Of one that is down, or that a leader writes
 * to, all of its memory counts ({@link SimLogMember#has}).
 */
final class LogCopies {
  private final List<SimLogMember> members;
  private final Supplier<GroupConfig> newest;
  private final LogHistory history;

  LogCopies(List<SimLogMember> members, Supplier<GroupConfig> newest, LogHistory history) {
    this.members = members;
    this.newest = newest;
    this.history = history;
  }

  /** Fails when no majority has it; to be asked when something was acknowledged, or given up. */
  void check() {
    long index = history.acknowledgedIndex();
    if (index == 0) {
      return;
    }
    GroupConfig config = newest.get();
    boolean enough =
        isMajority(config.members(), index)
            || (!config.active() && isMajority(config.previous(), index));
    if (!enough) {
      throw new AssertionError("no majority has a copy of entry " + index);
    }
  }

  private boolean isMajority(Set<Integer> ids, long index) {
    long value = history.values().get(index);
    long count =
        ids.stream()
            .map(id -> members.get(id - 1))
            .filter(each -> each.isFaulty() || each.has(index, value))
            .count();
    return 2 * count > ids.size();
  }
}
