package io.takofs.server.segment;

import io.takofs.layout.Layout;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;

/**
 * One frame in memory: header, payload padded with zeros, trailer. Every frame's CRCs continue the
 * chain of the frame before, so a frame is valid only in its place after its predecessors. Tests
 * replace {@link #check} by weaker ones to prove that they would notice.
 *
 * <p>Thread rule: one thread.
 */
public class FrameCodec {
  /** A frame with an entry of the state machine. */
  public static final byte ENTRY = 1;

  /** A frame with which a leader begins its term; nobody applies it. */
  public static final byte NOOP = 2;

  /** Bytes a frame needs beyond its padded payload. */
  public static final int OVERHEAD = Layout.FRAME_HEADER_SIZE + Layout.FRAME_TRAILER_SIZE;

  private final Crc32cScratch crc = new Crc32cScratch();

  /** Bytes of a frame with {@code length} bytes of payload. */
  public static int frameSize(int length) {
    return OVERHEAD + padded(length);
  }

  /**
   * Writes one frame and returns its chain value. The first 8 bytes go last: whoever reads the
   * memory meanwhile, or after a kill of this process, finds no frame or a whole one; where bytes
   * may land in any order (a remote write, loss of power) the CRCs decide.
   *
   * @param memory the segment, little-endian
   * @param view another view of the same memory, whose position and limit are changed
   */
  public int write(
      ByteBuffer memory,
      ByteBuffer view,
      int offset,
      int previousChain,
      short term16,
      long index,
      long commitIndex,
      int entryTerm,
      byte type,
      ByteBuffer payload) {
    int length = payload.remaining();
    int body = offset + Layout.FRAME_HEADER_SIZE;
    int end = body + padded(length);

    memory.putLong(offset + Layout.FRAME_HEADER_INDEX_OFFSET, index);
    memory.putLong(offset + Layout.FRAME_HEADER_COMMIT_INDEX_OFFSET, commitIndex);
    memory.putInt(offset + Layout.FRAME_HEADER_ENTRY_TERM_OFFSET, entryTerm);
    long first = firstWord(length, type, term16);
    int headerCrc = crc.ofHeader(previousChain, first, memory, offset);
    memory.putInt(offset + Layout.FRAME_HEADER_HEADER_CRC_OFFSET, headerCrc);
    memory.putLong(end - Layout.FRAME_ALIGN, 0);
    memory.put(body, payload, payload.position(), length);
    int payloadCrc = payloadCrc(view, offset, length);
    int chain = Crc32cScratch.neverZero(crc.ofInts(headerCrc, payloadCrc));
    memory.putInt(end + Layout.FRAME_TRAILER_PAYLOAD_CRC_OFFSET, payloadCrc);
    memory.putInt(end + Layout.FRAME_TRAILER_CHAIN_OFFSET, chain);
    VarHandle.releaseFence();
    memory.putLong(offset, first);
    VarHandle.releaseFence();
    return chain;
  }

  /**
   * Checks the frame at {@code offset}, of which at least a header is there.
   *
   * @param limit where the memory for frames ends
   * @return null when the frame is valid, else what is wrong with it
   */
  public String check(
      ByteBuffer memory,
      ByteBuffer view,
      int offset,
      int limit,
      int previousChain,
      short term16,
      long index) {
    int length = length(memory, offset);
    if (length <= 0 || length > Layout.FRAME_PAYLOAD_MAX || frameSize(length) > limit - offset) {
      return "its length of " + Integer.toUnsignedString(length) + " bytes is impossible";
    }
    byte type = type(memory, offset);
    long first = firstWord(length, type == NOOP ? NOOP : ENTRY, term16);
    if (headerChecksum(memory, offset)
        != crc.ofHeader(previousChain, memory.getLong(offset), memory, offset)) {
      return "its header does not match its checksum";
    }
    if (memory.getLong(offset) != first) {
      return "its type, flags or term are not of this segment";
    }
    if (index(memory, offset) != index) {
      return "it has index " + index(memory, offset) + " instead of " + index;
    }
    int trailer = offset + Layout.FRAME_HEADER_SIZE + padded(length);
    int payloadCrc = payloadCrc(view, offset, length);
    if (memory.getInt(trailer + Layout.FRAME_TRAILER_PAYLOAD_CRC_OFFSET) != payloadCrc) {
      return "its payload does not match its checksum";
    }
    int headerCrc = headerChecksum(memory, offset);
    if (memory.getInt(trailer + Layout.FRAME_TRAILER_CHAIN_OFFSET)
        != Crc32cScratch.neverZero(crc.ofInts(headerCrc, payloadCrc))) {
      return "its chain value does not match";
    }
    return null;
  }

  /** Bytes of the payload of the frame at {@code offset}. */
  public static int length(ByteBuffer memory, int offset) {
    return memory.getInt(offset + Layout.FRAME_HEADER_LENGTH_OFFSET);
  }

  static byte type(ByteBuffer memory, int offset) {
    return memory.get(offset + Layout.FRAME_HEADER_TYPE_OFFSET);
  }

  /** The checksum that the header of the frame at {@code offset} has. */
  public static int headerChecksum(ByteBuffer memory, int offset) {
    return memory.getInt(offset + Layout.FRAME_HEADER_HEADER_CRC_OFFSET);
  }

  /** The index of the frame at {@code offset}. */
  public static long index(ByteBuffer memory, int offset) {
    return memory.getLong(offset + Layout.FRAME_HEADER_INDEX_OFFSET);
  }

  static long commitIndex(ByteBuffer memory, int offset) {
    return memory.getLong(offset + Layout.FRAME_HEADER_COMMIT_INDEX_OFFSET);
  }

  /**
   * The term in which the entry of a frame was first proposed: the frame has its low half.
   *
   * @param segmentTerm of the segment, in the same namespace
   */
  static long entryTerm(ByteBuffer memory, int offset, long segmentTerm) {
    return segmentTerm >>> Integer.SIZE << Integer.SIZE
        | Integer.toUnsignedLong(memory.getInt(offset + Layout.FRAME_HEADER_ENTRY_TERM_OFFSET));
  }

  /** Chain value of the valid frame at {@code offset}. */
  public static int chain(ByteBuffer memory, int offset) {
    return chainBefore(memory, offset + frameSize(length(memory, offset)));
  }

  /** Chain value in the trailer of the frame that ends at {@code end}. */
  static int chainBefore(ByteBuffer memory, int end) {
    return memory.getInt(end - Layout.FRAME_TRAILER_SIZE + Layout.FRAME_TRAILER_CHAIN_OFFSET);
  }

  /** Covers the header's CRC, which stands just before the payload. */
  int payloadCrc(ByteBuffer view, int offset, int length) {
    return crc.ofRange(
        view, offset + Layout.FRAME_HEADER_HEADER_CRC_OFFSET, Integer.BYTES + padded(length));
  }

  /** Length, type, flags 0 and term of a header, as the 8 bytes they are. */
  private static long firstWord(int length, byte type, short term16) {
    return length
        | (long) type << (8 * Layout.FRAME_HEADER_TYPE_OFFSET)
        | (long) term16 << (8 * Layout.FRAME_HEADER_TERM16_OFFSET);
  }

  private static int padded(int length) {
    return (length + Layout.FRAME_ALIGN - 1) & -Layout.FRAME_ALIGN;
  }
}
