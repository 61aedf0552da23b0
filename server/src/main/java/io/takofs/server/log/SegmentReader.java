package io.takofs.server.log;

import io.takofs.layout.Layout;
import io.takofs.proto.LogSegment;
import io.takofs.transport.CompletionStatus;
import io.takofs.transport.Opcode;
import io.takofs.transport.QueuePair;
import io.takofs.transport.ScatterGather;
import java.util.List;

/**
 * Reads the closed segments of another member one-sided, for a candidate whose own log is not the
 * best.
 *
 * <p>Thread rule: the holder of the replica's monitor.
 */
final class SegmentReader {
  private static final int READ_BYTES_MAX = 1 << 20;

  private final LogMemory memory;
  private final QueuePair pair;
  private final List<LogSegment> segments;
  private final List<Integer> slots;
  private final ScatterGather piece = new ScatterGather();
  private int at;
  private int offset = Layout.SEGMENT_DATA_OFFSET;
  private boolean underWay;
  private boolean failed;

  /**
   * @param segments to be read
   * @param slots of this member's log, one for each
   */
  SegmentReader(LogMemory memory, QueuePair pair, List<LogSegment> segments, List<Integer> slots) {
    this.memory = memory;
    this.pair = pair;
    this.segments = segments;
    this.slots = slots;
  }

  QueuePair pair() {
    return pair;
  }

  List<LogSegment> segments() {
    return segments;
  }

  List<Integer> slots() {
    return slots;
  }

  boolean isDone() {
    return at == segments.size() && !underWay;
  }

  boolean hasFailed() {
    return failed || pair.state() != QueuePair.State.CONNECTED;
  }

  /** Reads the next part, if none is under way. */
  void read() {
    while (at < segments.size() && offset >= segments.get(at).getLength()) {
      at++;
      offset = Layout.SEGMENT_DATA_OFFSET;
    }
    if (underWay || at == segments.size() || hasFailed()) {
      return;
    }
    LogSegment segment = segments.get(at);
    int bytes = Math.min(segment.getLength() - offset, READ_BYTES_MAX);
    int from = offset - Layout.SEGMENT_DATA_OFFSET;
    piece.clear().add(memory.slots().get(slots.get(at)), from, bytes);
    pair.read(0, piece, segment.getAddress() + from, segment.getRkey(), QueuePair.SIGNALED);
    pair.ring();
    underWay = true;
    offset += bytes;
  }

  /** For the queue's poll. */
  void onCompletion(
      QueuePair of, long id, Opcode opcode, CompletionStatus status, int bytes, int immediate) {
    if (of == pair) {
      underWay = false;
      failed |= status != CompletionStatus.SUCCESS;
    }
  }
}
