package io.takofs.server.segment;

import io.takofs.base.Invariant;
import java.util.ArrayList;
import java.util.List;

/**
 * The segments of a log, oldest first and without a gap.
 *
 * <p>Thread rule: one thread at a time.
 */
public final class Chain {
  private final List<Segment> segments = new ArrayList<>();

  /** The segments, oldest first. */
  public List<Segment> segments() {
    return segments;
  }

  /** Whether there is no segment. */
  public boolean isEmpty() {
    return segments.isEmpty();
  }

  /** The newest segment; null when there is none. */
  public Segment tail() {
    return segments.isEmpty() ? null : segments.get(segments.size() - 1);
  }

  /** Index of the last entry; 0 when there is none. */
  public long lastIndex() {
    return segments.isEmpty() ? 0 : tail().lastIndex();
  }

  /** Term of the last entry; 0 when there is none. */
  public long lastTerm() {
    return segments.isEmpty() ? 0 : tail().lastTerm();
  }

  /** Sequence of the segment that comes next. */
  public long nextSequence() {
    return segments.isEmpty() ? 1 : tail().header().segmentSequence() + 1;
  }

  /** The highest index that a frame says is committed. */
  public long commitIndex() {
    long highest = 0;
    for (Segment segment : segments) {
      highest = Math.max(highest, segment.commitIndex());
    }
    return highest;
  }

  /** {@code segment} follows the last one. */
  public void add(Segment segment) {
    Segment tail = tail();
    Invariant.check(
        tail == null
            || (segment.header().segmentSequence() == tail.header().segmentSequence() + 1
                && segment.header().baseIndex() == tail.lastIndex() + 1),
        "a segment follows the one before");
    segments.add(segment);
  }

  /** The place of the segment that has {@code index}; the number of segments when none has it. */
  public int placeOf(long index) {
    for (int i = 0; i < segments.size(); i++) {
      if (index <= segments.get(i).lastIndex()) {
        return i;
      }
    }
    return segments.size();
  }

  /** The segment with this sequence; null when there is none. */
  public Segment get(long sequence) {
    if (segments.isEmpty()) {
      return null;
    }
    long at = sequence - segments.get(0).header().segmentSequence();
    return at < 0 || at >= segments.size() ? null : segments.get((int) at);
  }

  /**
   * The chain value after the entry {@code index}, which is here. It is read from a frame, whose
   * bits may have changed, but for the last one of a segment.
   */
  public int chainAfter(long index) {
    return segments.get(placeOf(index)).chainAfter(index);
  }

  /** An entry that another log may have, too, and the chain value after it. */
  public record End(long index, int chain) {}

  /**
   * The last entry up to {@code index} with which a segment ends that another one follows; that
   * before the oldest segment when there is none.
   */
  public End lastEnd(long index) {
    SegmentHeader oldest = segments.get(0).header();
    End end = new End(oldest.baseIndex() - 1, oldest.baseChain());
    for (Segment segment : segments.subList(0, segments.size() - 1)) {
      if (segment.lastIndex() <= index) {
        end = new End(segment.lastIndex(), segment.chain());
      }
    }
    return end;
  }

  /** Whether the entry {@code index} is here, and it and all before it are those of that chain. */
  public boolean has(long index, int chain) {
    return !segments.isEmpty()
        && index >= segments.get(0).header().baseIndex()
        && index <= lastIndex()
        && chainAfter(index) == chain;
  }

  /** Takes out the segments from {@code sequence} on. */
  public List<Segment> cutFrom(long sequence) {
    List<Segment> cut = new ArrayList<>();
    while (!segments.isEmpty() && tail().header().segmentSequence() >= sequence) {
      cut.add(0, segments.remove(segments.size() - 1));
    }
    return cut;
  }

  /** The last entry of the segments that {@link #cutOldest} takes one by one; 0 for none. */
  public long endOfOldest(long index) {
    int staying = Math.min(placeOf(index + 1), segments.size() - 1);
    return staying <= 0 ? 0 : segments.get(staying - 1).lastIndex();
  }

  /** Takes out the oldest segment when it has no entry above {@code index}, but never the last. */
  public Segment cutOldest(long index) {
    return segments.size() > 1 && segments.get(0).lastIndex() <= index ? segments.remove(0) : null;
  }
}
