package io.takofs.server.segment;

import io.takofs.layout.Layout;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.function.BooleanSupplier;

/**
 * The slots of a member's log that hold no part of it: free ones, and those that rest because a
 * former leader may still store to them. Free slots are zeroed in small pieces when there is time,
 * or when they are taken: those who give one back, as in an election, do not wait for it.
 *
 * <p>Thread rule: one thread at a time.
 */
public final class SlotPool {
  /** Bytes that {@link #tidy} zeroes at once, which takes less than a millisecond. */
  private static final int PIECE_BYTES = 1 << 20;

  private final LogZone zone;
  private final LogIdentity identity;
  private final Crc32cScratch crc;
  private final SegmentHeader[] headers;
  private final ArrayDeque<Integer> zeroed = new ArrayDeque<>();
  private final ArrayDeque<Integer> used = new ArrayDeque<>(); // free, to be zeroed
  private int zeroedBytes; // of the first one of those
  private final List<Resting> resting = new ArrayList<>();

  private record Resting(List<Integer> slots, BooleanSupplier ended) {}

  /**
   * @param headers the newest of each slot
   */
  public SlotPool(LogZone zone, LogIdentity identity, SegmentHeader[] headers, Crc32cScratch crc) {
    this.zone = zone;
    this.identity = identity;
    this.headers = headers;
    this.crc = crc;
  }

  /** Slots that {@link #take} has. */
  public int freeCount() {
    return zeroed.size() + used.size();
  }

  /** A free slot, whose data bytes are zero; null when there is none. */
  public Integer take() {
    if (zeroed.isEmpty() && !used.isEmpty()) {
      zero(zone.segmentSize());
    }
    return zeroed.poll();
  }

  /** A free slot whose data bytes will all be written; null when there is none. */
  public Integer takeToOverwrite() {
    if (used.isEmpty()) {
      return zeroed.poll();
    }
    zeroedBytes = 0;
    return used.poll();
  }

  /** Goes on with the zeroing of free slots, for less than a millisecond. */
  public void tidy() {
    if (!used.isEmpty()) {
      zero(PIECE_BYTES);
    }
  }

  private void zero(int most) {
    int begin = Layout.SEGMENT_DATA_OFFSET + zeroedBytes;
    int length = Math.min(most, zone.segmentSize() - begin);
    zone.zero(used.peek(), begin, length);
    zeroedBytes += length;
    if (begin + length == zone.segmentSize()) {
      zeroed.add(used.poll());
      zeroedBytes = 0;
    }
  }

  /** The header that {@code slot} had last, for the next one. */
  public SegmentHeader header(int slot) {
    return headers[slot];
  }

  /** Remembers what was written to {@code slot}. */
  public void setHeader(int slot, SegmentHeader header) {
    headers[slot] = header;
  }

  /**
   * Writes down that the leader may write to {@code slot}.
   *
   * @param sequence of the segment that will be there; 0 while that is not known
   */
  public void grant(int slot, long grant, long sequence, long term) {
    headers[slot] =
        headers[slot].granted(identity.logId(), identity.incarnation(), grant, sequence, term);
    headers[slot].write(zone, slot, crc);
  }

  /** A slot that is free, with anything in it: a crash may have come before it was zeroed. */
  public void add(int slot) {
    used.add(slot);
  }

  /** Nobody can write to {@code slot} any more, and nobody needs what is there. */
  public void release(int slot) {
    if (headers[slot].state() != SegmentState.FREE) { // a slot to read into keeps its header
      headers[slot] = headers[slot].freed();
      headers[slot].write(zone, slot, crc);
    }
    add(slot);
  }

  /** {@code slots} are released once {@code ended} says that their writer has ended. */
  public void rest(List<Integer> slots, BooleanSupplier ended) {
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
  public boolean isResting() {
    return !resting.isEmpty();
  }

  /** Releases what rested for long enough. */
  public void poll() {
    for (Iterator<Resting> all = resting.iterator(); all.hasNext(); ) {
      Resting each = all.next();
      if (each.ended.getAsBoolean()) {
        all.remove();
        each.slots.forEach(this::release);
      }
    }
  }
}
