package io.takofs.server.log;

import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/**
 * The members of a group, as one read of the catalog gave them.
 *
 * @param epoch number of the configuration, one more with each change
 * @param members servers that keep the log in this epoch
 * @param previous those of the epoch before; empty in the first one
 * @param active whether a leader has committed an entry in this epoch, so that no leader of the
 *     previous one can commit anything any more
 * @param term terms of the group's leaders are above this one
 * @param copiedEpochs configurations of the copies of which the catalog was made again, the first
 *     one first, while none has been active since; else none
 */
public record GroupConfig(
    long epoch,
    Set<Integer> members,
    Set<Integer> previous,
    boolean active,
    long term,
    List<Long> copiedEpochs) {
  /** Segments that the log of one of several members has at least. */
  public static final int SEGMENTS_MIN = 8;

  /** A configuration of a group whose terms begin at 1. */
  public GroupConfig(long epoch, Set<Integer> members, Set<Integer> previous, boolean active) {
    this(epoch, members, previous, active, 0, List.of());
  }

  /**
   * Whether a member that has acted on configuration {@code acted} knows of a later one than the
   * copies did of which the catalog was made again. Members that only the later one has are not
   * asked in this one, though they may have what was committed.
   */
  public boolean isCopiedBefore(long acted) {
    return isCopiedBefore(acted, epoch, copiedEpochs);
  }

  static boolean isCopiedBefore(long acted, long epoch, List<Long> copiedEpochs) {
    return !copiedEpochs.isEmpty()
        && acted > copiedEpochs.get(0)
        && acted < epoch
        && !copiedEpochs.contains(acted);
  }

  /** The servers whose promises count. */
  Set<Integer> asked() {
    if (active) {
      return members;
    }
    Set<Integer> all = new TreeSet<>(members);
    all.addAll(previous);
    return all;
  }

  /** Whether {@code those} are enough for a leader: a majority of each set that may commit. */
  boolean isQuorum(Set<Integer> those) {
    return isMajority(those, members)
        && (active || previous.isEmpty() || isMajority(those, previous));
  }

  /**
   * Whether a leader of this configuration, or of the one before while this one is not active,
   * commits what {@code those} have. Each leader counts the members of its own configuration alone.
   */
  boolean mayCommit(Set<Integer> those) {
    return isMajority(those, members) || (!active && isMajority(those, previous));
  }

  private static boolean isMajority(Set<Integer> those, Set<Integer> of) {
    return 2 * of.stream().filter(those::contains).count() > of.size();
  }
}
