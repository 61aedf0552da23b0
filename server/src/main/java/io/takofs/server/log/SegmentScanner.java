package io.takofs.server.log;

import io.takofs.layout.Layout;
import java.nio.ByteBuffer;

/**
 * Finds out how far a segment is valid.
 *
 * <p>Thread rule: one thread.
 */
final class SegmentScanner {
  /** The end of the valid frames of a segment. */
  enum End {
    /** With untouched memory, or with the segment. */
    CLEAN_END,
    /** With a frame that was never finished: nobody was told that it is there. */
    TORN_END,
    /** With damage below what was committed or sealed. */
    CORRUPT
  }

  /**
   * The result of a scan.
   *
   * @param length bytes of the segment up to the end of its last valid frame
   * @param lastIndex index of that frame; one less than the base index when there is none
   * @param lastTerm the term of its entry; of the entry before the segment when there is none
   * @param commitIndex the highest that a frame names; 0 when there is none
   * @param chain chain value after it
   * @param reason for TORN_END and CORRUPT: which frame is wrong, where and how; else empty
   */
  record Result(
      End end,
      int length,
      long lastIndex,
      long lastTerm,
      long commitIndex,
      int chain,
      String reason) {}

  /** The result of a scan that has looked at no frame yet. */
  Result beginning(SegmentHeader header, long previousTerm) {
    return new Result(
        End.CLEAN_END,
        Layout.SEGMENT_DATA_OFFSET,
        header.baseIndex() - 1,
        previousTerm,
        0,
        crc.ofSegment(header),
        "");
  }

  private final Crc32cScratch crc;
  private final FrameCodec codec;

  SegmentScanner(Crc32cScratch crc, FrameCodec codec) {
    this.crc = crc;
    this.codec = codec;
  }

  /**
   * Checks frame after frame from the first.
   *
   * @param memory the segment, little-endian
   * @param previousTerm of the entry before the segment's first; 0 for none
   * @param requiredLength bytes known to have been valid; ending before makes it CORRUPT
   * @param limit where to stop: the sealed length, or the segment's size
   */
  Result scan(
      ByteBuffer memory, SegmentHeader header, long previousTerm, int requiredLength, int limit) {
    return scan(memory, header, beginning(header, previousTerm), requiredLength, limit);
  }

  /**
   * Checks the frames after those that {@code from} tells of.
   *
   * @param from the result of an earlier scan of the segment
   */
  Result scan(ByteBuffer memory, SegmentHeader header, Result from, int requiredLength, int limit) {
    ByteBuffer view = memory.duplicate();
    short term16 = (short) header.term();
    int offset = from.length();
    int chain = from.chain();
    long index = from.lastIndex() + 1;
    long commitIndex = from.commitIndex();
    long term = from.lastTerm();
    String wrong = null;
    while (wrong == null && limit - offset >= FrameCodec.OVERHEAD && memory.getLong(offset) != 0) {
      wrong = codec.check(memory, view, offset, limit, chain, term16, index);
      if (wrong == null) {
        long known = FrameCodec.commitIndex(memory, offset);
        long entryTerm = FrameCodec.entryTerm(memory, offset, header.term());
        String impossible = null;
        if (known < commitIndex || known >= index) {
          impossible = "its commit index " + known + " is impossible";
        } else if (entryTerm < term || entryTerm > header.term()) {
          String where = " is not between those of the entry before and of its segment, ";
          impossible = "its term " + entryTerm + where + term + " and " + header.term();
        }
        if (impossible != null) {
          String reason = at(offset, index) + impossible;
          return new Result(End.CORRUPT, offset, index - 1, term, commitIndex, chain, reason);
        }
        commitIndex = known;
        term = entryTerm;
        chain = FrameCodec.chain(memory, offset);
        offset += FrameCodec.frameSize(FrameCodec.length(memory, offset));
        index++;
      }
    }
    if (offset < requiredLength) {
      String what = wrong == null ? "it is missing" : wrong;
      return new Result(
          End.CORRUPT,
          offset,
          index - 1,
          term,
          commitIndex,
          chain,
          at(offset, index) + what + ", but frames up to offset " + requiredLength + " were valid");
    }
    return wrong == null
        ? new Result(End.CLEAN_END, offset, index - 1, term, commitIndex, chain, "")
        : new Result(
            End.TORN_END, offset, index - 1, term, commitIndex, chain, at(offset, index) + wrong);
  }

  /**
   * Checks one frame of a segment whose frames were whole up to {@code end}.
   *
   * @return null when it still is, else what is wrong with it
   */
  String check(ByteBuffer memory, SegmentHeader header, int offset, int end, long index) {
    if (end - offset < FrameCodec.OVERHEAD) {
      return at(offset, index) + "those before it do not lead to it";
    }
    int previous =
        offset == Layout.SEGMENT_DATA_OFFSET
            ? crc.ofSegment(header)
            : memory.getInt(offset - Layout.FRAME_TRAILER_SIZE + Layout.FRAME_TRAILER_CHAIN_OFFSET);
    String wrong =
        codec.check(
            memory, memory.duplicate(), offset, end, previous, (short) header.term(), index);
    return wrong == null ? null : at(offset, index) + wrong;
  }

  private static String at(int offset, long index) {
    return "the frame of entry " + index + " at offset " + offset + " is invalid: ";
  }
}
