package io.takofs.server.extent;

import io.takofs.base.Invariant;
import io.takofs.layout.Layout;
import java.util.ArrayList;
import java.util.List;

/**
 * The extents in quarantine in the order in which they came there, so that those whose time is over
 * are found without looking at the others. It says where they are, 8 bytes each; whether one is
 * still there its record says.
 *
 * <p>One that was looked at and stays, because somebody may still reach it, is looked at again
 * after those that were not.
 *
 * <p>Thread rule: the state machine's thread.
 */
final class QuarantineQueue {
  /** Finds the record of what was put into the queue. */
  @FunctionalInterface
  interface Records {
    /** Null when it is in quarantine no more. */
    Quarantined find(int arena, int offset, int generation);
  }

  private static final int UNIT_BITS =
      Integer.numberOfTrailingZeros(Layout.ARENA_SIZE / Layout.UNIT_SIZE);
  private static final int ARENAS_MAX = 1 << (Integer.SIZE - UNIT_BITS);

  private final Records records;
  private final LongQueue fresh = new LongQueue();
  private final LongQueue seen = new LongQueue();
  private long latestMs = Long.MIN_VALUE;

  QuarantineQueue(Records records) {
    this.records = records;
  }

  /** It came into quarantine after all others. */
  void add(Quarantined extent) {
    Location location = extent.location();
    Invariant.check(location.arena() < ARENAS_MAX, "an arena has its number in the queue");
    long place = (long) location.arena() << UNIT_BITS | location.unit();
    fresh.add(place << Integer.SIZE | Integer.toUnsignedLong(extent.generation()));
    latestMs = Math.max(latestMs, extent.sinceMs());
  }

  /** The last one did not come. */
  void undoAdd() {
    fresh.removeLast();
  }

  /** The latest time at which any came. */
  long latestMs() {
    return latestMs;
  }

  /** Whether there may be one that was not looked at and came at {@code untilMs} or before. */
  boolean hasFresh(long untilMs) {
    if (fresh.size() == 0) {
      return false;
    }
    Quarantined extent = find(fresh.first());
    return extent == null || extent.sinceMs() <= untilMs;
  }

  /** Up to {@code limit} that came at {@code untilMs} or before; looks at twice as many records. */
  List<Quarantined> next(long untilMs, int limit) {
    List<Quarantined> found = new ArrayList<>();
    int again = Math.min(limit, seen.size());
    for (int i = 0; i < limit && hasFresh(untilMs); i++) {
      long item = fresh.removeFirst();
      Quarantined extent = find(item);
      if (extent != null) {
        seen.add(item);
        found.add(extent);
      }
    }
    for (int i = 0; i < again; i++) {
      long item = seen.removeFirst();
      Quarantined extent = find(item);
      if (extent != null) {
        seen.add(item);
        if (extent.sinceMs() <= untilMs && found.size() < limit) {
          found.add(extent);
        }
      }
    }
    return found;
  }

  private Quarantined find(long item) {
    int place = (int) (item >>> Integer.SIZE);
    int unit = place & ((1 << UNIT_BITS) - 1);
    return records.find(place >>> UNIT_BITS, unit * Layout.UNIT_SIZE, (int) item);
  }
}
