package io.takofs.server.extent;

import java.util.ArrayList;
import java.util.List;

/**
 * The extents in quarantine in the order in which they came there, so that those whose time is over
 * are found without looking at the others. It says which they are, 16 bytes each; whether one is
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
    Quarantined find(long slab, int unit, long generation);
  }

  private static final int UNIT_BITS = Integer.numberOfTrailingZeros(SlabRange.SLAB_UNITS);

  private final Records records;
  private final LongQueue fresh = new LongQueue();
  private final LongQueue seen = new LongQueue();

  QuarantineQueue(Records records) {
    this.records = records;
  }

  /** It came into quarantine after all others. */
  void add(Quarantined extent) {
    fresh.add(extent.range().slab() << UNIT_BITS | extent.range().unit());
    fresh.add(extent.generation());
  }

  /** The last one did not come. */
  void undoAdd() {
    fresh.removeLast();
    fresh.removeLast();
  }

  /** Whether there may be one that was not looked at and came at {@code untilMs} or before. */
  boolean hasFresh(long untilMs) {
    if (fresh.size() == 0) {
      return false;
    }
    Quarantined extent = find(fresh.get(0), fresh.get(1));
    return extent == null || extent.sinceMs() <= untilMs;
  }

  /** Up to {@code limit} that came at {@code untilMs} or before; looks at twice as many records. */
  List<Quarantined> next(long untilMs, int limit) {
    List<Quarantined> found = new ArrayList<>();
    int again = Math.min(limit, seen.size() / 2);
    for (int i = 0; i < limit && hasFresh(untilMs); i++) {
      long place = fresh.removeFirst();
      long generation = fresh.removeFirst();
      Quarantined extent = find(place, generation);
      if (extent != null) {
        seen.add(place);
        seen.add(generation);
        found.add(extent);
      }
    }
    for (int i = 0; i < again; i++) {
      long place = seen.removeFirst();
      long generation = seen.removeFirst();
      Quarantined extent = find(place, generation);
      if (extent != null) {
        seen.add(place);
        seen.add(generation);
        if (extent.sinceMs() <= untilMs && found.size() < limit) {
          found.add(extent);
        }
      }
    }
    return found;
  }

  private Quarantined find(long place, long generation) {
    int unit = (int) place & (SlabRange.SLAB_UNITS - 1);
    return records.find(place >>> UNIT_BITS, unit, generation);
  }
}
