package io.takofs.server.log;

import io.takofs.server.segment.LogZone;
import io.takofs.server.segment.Segment;
import io.takofs.server.segment.SegmentHeader;
import io.takofs.server.segment.SegmentScanner;
import io.takofs.transport.QueuePair;
import java.util.ArrayList;
import java.util.List;

/**
 * The grant of one leader at a member: slots for consecutive segments, and the connection over
 * which it writes to them. Until the leader's log is adopted the segments here are no part of the
 * member's.
 *
 * <p>Thread rule: one thread at a time.
 */
final class Intake {
  private final long number;
  private final long term;
  private final int leader;
  private final LogMemory memory;
  private final List<Integer> slots;
  private final List<QueuePair> pairs = new ArrayList<>();
  private final List<Segment> arrived = new ArrayList<>();
  private final List<Integer> copied = new ArrayList<>();
  private boolean ending;
  private boolean severed;
  private boolean adopted;
  private boolean broken;
  private int begun;

  /**
   * @param leader the server that writes
   * @param memory as the leader names it; null where nobody writes
   */
  Intake(long number, long term, int leader, LogMemory memory, List<Integer> slots) {
    this.number = number;
    this.term = term;
    this.leader = leader;
    this.memory = memory;
    this.slots = new ArrayList<>(slots);
  }

  /** The number of the grant. */
  long number() {
    return number;
  }

  long term() {
    return term;
  }

  /** The server that writes. */
  int leader() {
    return leader;
  }

  /** This member's memory, as the leader names it. */
  LogMemory memory() {
    return memory;
  }

  /** In the order of the segments. */
  List<Integer> slots() {
    return slots;
  }

  void add(QueuePair pair) {
    pairs.add(pair);
    severed = false;
  }

  /** {@code pair} has ended by itself. */
  void ended(QueuePair pair) {
    severed |= pairs.indexOf(pair) == pairs.size() - 1;
  }

  /** Whether the leader's newest connection has ended by itself: it died, or will connect again. */
  boolean isSevered() {
    return severed && !ending;
  }

  /** Whether {@code pair} is one of its connections, be it over or not. */
  boolean has(QueuePair pair) {
    return pairs.contains(pair);
  }

  /** Whether the leader's log is that of this member, so that what it writes is a part of it. */
  boolean isAdopted() {
    return adopted;
  }

  /** Whether a frame that the leader counts is not whole here, so that the grant is to be ended. */
  boolean isBroken() {
    return broken;
  }

  void setBroken() {
    broken = true;
  }

  /** Whether the grant is over, though what came under it may not have been looked at yet. */
  boolean isEnding() {
    return ending;
  }

  /**
   * Ends the leader's connections, also those that have ended by themselves: their last bytes may
   * still land.
   *
   * @return whether nothing of it lands any more; what it counts as written has landed in any case
   * @throws java.io.UncheckedIOException when a device does not do it; to be asked again
   */
  boolean revoke() {
    ending = true;
    boolean ended = true;
    for (QueuePair pair : pairs) {
      ended &= pair.revoke();
    }
    return ended;
  }

  /** As {@link #revoke}, and gives the connections up when it is true. */
  boolean revokeAndClose() {
    boolean ended = revoke();
    if (ended) {
      pairs.forEach(QueuePair::close);
      pairs.clear();
    }
    return ended;
  }

  /** Slots from which the newest segments were copied. */
  List<Integer> copied() {
    return copied;
  }

  /**
   * Looks at what the leader has written before its log is adopted.
   *
   * @param planned the segments that it says to have written, oldest first
   * @param previousTerm of the entry before them; 0 for none
   * @return whether all of them but the last are whole
   */
  boolean scan(
      LogZone zone, List<SegmentHeader> planned, long previousTerm, SegmentScanner scanner) {
    long before = previousTerm;
    for (int i = 0; i < planned.size(); i++) {
      if (i == slots.size()) {
        return false;
      }
      if (i == arrived.size()) {
        arrived.add(Segment.arriving(zone, slots.get(i), planned.get(i), before, scanner));
      }
      Segment segment = arrived.get(i);
      if (!segment.header().isSameSegment(planned.get(i))
          || segment.extend(scanner).end() == SegmentScanner.End.CORRUPT) {
        return false;
      }
      boolean last = i == planned.size() - 1;
      if (!last
          && (segment.lastIndex() != planned.get(i + 1).baseIndex() - 1
              || segment.chain() != planned.get(i + 1).baseChain())) {
        return false;
      }
      before = segment.lastTerm();
    }
    return true;
  }

  /** The segments that {@link #scan} found, oldest first. */
  List<Segment> arrived() {
    return arrived;
  }

  /** The leader's log is adopted, with the segments that have arrived. */
  void adopt() {
    adopted = true;
    begun = arrived.size();
  }

  /** The slot of the segment that comes next; null when the leader has none. */
  Integer nextSlot() {
    return begun < slots.size() ? slots.get(begun) : null;
  }

  /** A segment was begun in {@link #nextSlot}. */
  void begin() {
    begun++;
  }

  /** Slots that hold no segment. */
  List<Integer> unusedSlots() {
    return List.copyOf(slots.subList(begun, slots.size()));
  }
}
