package io.takofs.server.segment;

import io.takofs.layout.Layout;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.stream.IntStream;

/**
 * Finds out how far a segment is valid.
 *
 * <p>Thread rule: one thread.
 */
public final class SegmentScanner {
  /** The end of the valid frames of a segment. */
  public enum End {
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
  public record Result(
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

  /** Checks frames with {@code codec}. */
  public SegmentScanner(Crc32cScratch crc, FrameCodec codec) {
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
  public Result scan(
      ByteBuffer memory, SegmentHeader header, long previousTerm, int requiredLength, int limit) {
    return scan(memory, header, beginning(header, previousTerm), requiredLength, limit);
  }

  /**
   * Checks the frames after those that {@code from} tells of.
   *
   * @param from the result of an earlier scan of the segment
   */
  public Result scan(
      ByteBuffer memory, SegmentHeader header, Result from, int requiredLength, int limit) {
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
   * Finds where the log goes on after a frame that is not whole. The chain of the frames before, or
   * the frame's own checksums, must lead there: clients choose payloads, which may look like
   * frames, and know neither.
   *
   * @param from the result of a scan that ends before the frame
   * @return results as if the frame were whole: none when it was never finished, or too much of it
   *     is damaged; several when its trailer contradicts itself
   */
  List<Result> past(ByteBuffer memory, Result from) {
    int offset = from.length();
    if (memory.capacity() - offset < FrameCodec.OVERHEAD || memory.getLong(offset) == 0) {
      return List.of(); // nothing was written there
    }
    int stored = FrameCodec.headerChecksum(memory, offset);
    int computed = crc.ofHeader(from.chain(), memory.getLong(offset), memory, offset);
    int length = FrameCodec.length(memory, offset);
    boolean isPossible = length > 0 && length <= Layout.FRAME_PAYLOAD_MAX;
    if (stored == computed) {
      int end = isPossible ? offset + FrameCodec.frameSize(length) : Integer.MAX_VALUE;
      return end > memory.capacity() ? List.of() : ending(memory, from, offset, end);
    }
    // A part of the header is damaged: one of the two checksums is right, and no client knows it.
    // A stored one that has not arrived is zero, which everybody knows.
    int limit = offset + FrameCodec.frameSize(Layout.FRAME_PAYLOAD_MAX);
    for (int end = offset + FrameCodec.frameSize(1);
        end <= Math.min(limit, memory.capacity());
        end += Layout.FRAME_ALIGN) {
      int chain = FrameCodec.chainBefore(memory, end);
      if (chain != 0
          && (chain == chainOf(computed, memory, end)
              || (stored != 0 && chain == chainOf(stored, memory, end)))) {
        return List.of(past(from, end, chain));
      }
    }
    return List.of();
  }

  /** The ways in which a frame with a whole header may end, of which not all is whole. */
  private List<Result> ending(ByteBuffer memory, Result from, int offset, int end) {
    int header = FrameCodec.headerChecksum(memory, offset);
    int payload = codec.payloadCrc(memory.duplicate(), offset, FrameCodec.length(memory, offset));
    return IntStream.of(
            FrameCodec.chainBefore(memory, end),
            chainOf(header, memory, end),
            Crc32cScratch.neverZero(crc.ofInts(header, payload)))
        .distinct()
        .mapToObj(chain -> past(from, end, chain))
        .toList();
  }

  private static Result past(Result from, int end, int chain) {
    long index = from.lastIndex() + 1;
    return new Result(End.CLEAN_END, end, index, from.lastTerm(), from.commitIndex(), chain, "");
  }

  /** The chain value of the frame that ends at {@code end}, by the checksums in it. */
  private int chainOf(int headerChecksum, ByteBuffer memory, int end) {
    int payloadChecksum =
        memory.getInt(end - Layout.FRAME_TRAILER_SIZE + Layout.FRAME_TRAILER_PAYLOAD_CRC_OFFSET);
    return Crc32cScratch.neverZero(crc.ofInts(headerChecksum, payloadChecksum));
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
            : FrameCodec.chainBefore(memory, offset);
    String wrong =
        codec.check(
            memory, memory.duplicate(), offset, end, previous, (short) header.term(), index);
    return wrong == null ? null : at(offset, index) + wrong;
  }

  private static String at(int offset, long index) {
    return "the frame of entry " + index + " at offset " + offset + " is invalid: ";
  }
}
