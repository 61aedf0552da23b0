package io.takofs.server.log;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.function.BooleanSupplier;

/**
 * The slots of a member's log that hold no part of it: free ones, and those that rest because a
 * former leader may still store to them.
 *
 * <p>Thread rule: one thread at a time.
 */
final class SlotPool {
  private final LogZone zone;
  private final LogIdentity identity;
  private final Crc32cScratch crc;
  private final SegmentHeader[] headers;
  private final ArrayDeque<Integer> free = new ArrayDeque<>();
  private final List<Resting> resting = new ArrayList<>();

  private record Resting(List<Integer> slots, BooleanSupplier ended) {}

  /**
   * @param headers the newest of each slot
   */
  SlotPool(LogZone zone, LogIdentity identity, SegmentHeader[] headers, Crc32cScratch crc) {
    this.zone = zone;
    this.identity = identity;
    this.headers = headers;
    this.crc = crc;
  }

  /** Slots that {@link #take} has. */
  int freeCount() {
    return free.size();
  }

  /** A free slot, whose data bytes are zero; null when there is none. */
  Integer take() {
    return free.poll();
  }

  /** The header that {@code slot} had last, for the next one. */
  SegmentHeader header(int slot) {
    return headers[slot];
  }

  /** Remembers what was written to {@code slot}. */
  void setHeader(int slot, SegmentHeader header) {
    headers[slot] = header;
  }

  /**
   * Writes down that the leader may write to {@code slot}.
   *
   * @param sequence of the segment that will be there; 0 while that is not known
   */
  void grant(int slot, long grant, long sequence, long term) {
    headers[slot] =
        headers[slot].granted(identity.logId(), identity.incarnation(), grant, sequence, term);
    headers[slot].write(zone, slot, crc);
  }

  /** A slot that is free; a crash may have come before it was zeroed. */
  void add(int slot) {
    Segment.zero(zone, slot);
    free.add(slot);
  }

  /** Nobody can write to {@code slot} any more, and nobody needs what is there. */
  void release(int slot) {
    if (headers[slot].state() != SegmentState.FREE) { // a slot to read into keeps its header
      headers[slot] = headers[slot].freed();
      headers[slot].write(zone, slot, crc);
    }
    add(slot);
  }

  /** {@code slots} are released once {@code ended} says that their writer has ended. */
  void rest(List<Integer> slots, BooleanSupplier ended) {
    if (slots.isEmpty()) {
      return;
    }
    if (ended.getAsBoolean()) {
      slots.forEach(this::release);
      return;
    }
    for (int slot : slots) {
      grant(slot, headers[slot].grant(), 0, headers[slot].term()); // no part of the log
    }
    resting.add(new Resting(slots, ended));
  }

  /** Whether a former leader may still store to one of the slots. */
  boolean isResting() {
    return !resting.isEmpty();
  }

  /** Releases what rested for long enough. */
  void poll() {
    for (Iterator<Resting> all = resting.iterator(); all.hasNext(); ) {
      Resting each = all.next();
      if (each.ended.getAsBoolean()) {
        all.remove();
        each.slots.forEach(this::release);
      }
    }
  }
}
