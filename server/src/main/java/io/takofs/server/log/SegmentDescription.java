package io.takofs.server.log;

import io.takofs.proto.LogSegment;
import io.takofs.server.segment.Segment;
import io.takofs.server.segment.SegmentHeader;
import io.takofs.transport.MemoryRegion;

/** A segment of one member as the others learn of it. */
final class SegmentDescription {
  private SegmentDescription() {}

  /**
   * Describes {@code segment} as it is now.
   *
   * @param via the transport over which it can be read; null for none
   */
  static LogSegment of(Segment segment, LogTransport via) {
    SegmentHeader header = segment.header();
    LogSegment.Builder described =
        LogSegment.newBuilder()
            .setSequence(header.segmentSequence())
            .setTerm(header.term())
            .setBaseIndex(header.baseIndex())
            .setBaseChain(header.baseChain())
            .setLastIndex(segment.lastIndex())
            .setChain(segment.chain())
            .setLength(segment.length());
    if (via != null) {
      MemoryRegion region = via.memory().slots().get(segment.slot());
      described.setAddress(region.address()).setRkey(region.rkey());
    }
    return described.build();
  }

  /**
   * Whether a member has a segment as this one has it, which is closed; {@code mine} may be null.
   */
  static boolean isSame(Segment mine, LogSegment theirs) {
    return mine != null
        && !mine.isOpen()
        && mine.header().term() == theirs.getTerm()
        && mine.header().baseIndex() == theirs.getBaseIndex()
        && mine.header().baseChain() == theirs.getBaseChain()
        && mine.length() == theirs.getLength()
        && mine.chain() == theirs.getChain();
  }
}
