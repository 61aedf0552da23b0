package io.takofs.server.segment;

import io.takofs.layout.Layout;
import io.takofs.server.segment.SegmentScanner.Result;
import java.nio.ByteBuffer;
import java.util.List;

/**
 * Reads the frames that come after the end of a log, where one is not whole. They are no part of
 * the log, but entries that they name committed are so, and the member has lost some of those.
 *
 * <p>Thread rule: one thread.
 */
public final class FramesBeyond {
  private final LogZone zone;
  private final SegmentScanner scanner;

  /** For the slots of {@code zone}. */
  public FramesBeyond(LogZone zone, SegmentScanner scanner) {
    this.zone = zone;
    this.scanner = scanner;
  }

  /**
   * The highest index that they name; 0 when there are none.
   *
   * @param tail the newest segment of the log
   * @param slots for the segments after it, in their order
   * @param term of the leader that wrote to them
   */
  public long committed(Segment tail, List<Integer> slots, long term) {
    long committed = 0;
    for (Result past : scanner.past(zone.slot(tail.slot()), tail.known())) {
      committed = Math.max(committed, committed(tail.header(), tail.slot(), past, slots, term));
    }
    if (!tail.isUnfinished() && !slots.isEmpty()) { // the next segment's first may be broken
      SegmentHeader next = tail.header().following(tail.lastIndex(), tail.chain(), term);
      List<Integer> after = slots.subList(1, slots.size());
      Result none = scanner.beginning(next, tail.lastTerm());
      for (Result past : scanner.past(zone.slot(slots.get(0)), none)) {
        committed = Math.max(committed, committed(next, slots.get(0), past, after, term));
      }
    }
    return committed;
  }

  /** The highest index that frames from the end of {@code from} on name; 0 when there are none. */
  private long committed(
      SegmentHeader first, int firstSlot, Result from, List<Integer> slots, long term) {
    SegmentHeader header = first;
    Result result = scan(firstSlot, header, from);
    for (int slot : slots) {
      header = header.following(result.lastIndex(), result.chain(), term);
      Result next = scan(slot, header, scanner.beginning(header, result.lastTerm()));
      if (next.lastIndex() == result.lastIndex()) {
        break;
      }
      result = next;
    }
    return result.lastIndex() == from.lastIndex() ? 0 : result.commitIndex();
  }

  private Result scan(int slot, SegmentHeader header, Result from) {
    ByteBuffer memory = zone.slot(slot);
    return scanner.scan(memory, header, from, Layout.SEGMENT_DATA_OFFSET, memory.capacity());
  }
}
