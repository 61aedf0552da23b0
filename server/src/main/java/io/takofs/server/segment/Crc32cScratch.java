package io.takofs.server.segment;

import io.takofs.layout.Layout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.zip.CRC32C;

/**
 * CRC32C over scattered words and over ranges of memory, without allocation.
 *
 * <p>Thread rule: one thread.
 */
public final class Crc32cScratch {
  private final CRC32C crc = new CRC32C();
  private final ByteBuffer words = ByteBuffer.allocateDirect(64).order(ByteOrder.LITTLE_ENDIAN);

  private final ByteBuffer wordsView = words.duplicate();

  /** CRC of {@code length} bytes of {@code view} from {@code offset}; moves the view's position. */
  public int ofRange(ByteBuffer view, int offset, int length) {
    crc.reset();
    view.limit(offset + length).position(offset);
    crc.update(view);
    return (int) crc.getValue();
  }

  /**
   * CRC of a frame header without its own CRC, chained to the frame before. The header's first 8
   * bytes are given, because a writer stores them last.
   */
  public int ofHeader(int previousChain, long first, ByteBuffer memory, int offset) {
    // In the sizes in which they are loaded again: else a load has to wait for several stores.
    long second = memory.getLong(offset + 8);
    long third = memory.getLong(offset + 16);
    long fourth = Integer.toUnsignedLong(memory.getInt(offset + 24));
    words.putLong(0, Integer.toUnsignedLong(previousChain) | first << Integer.SIZE);
    words.putLong(8, first >>> Integer.SIZE | second << Integer.SIZE);
    words.putLong(16, second >>> Integer.SIZE | third << Integer.SIZE);
    words.putLong(24, third >>> Integer.SIZE | fourth << Integer.SIZE);
    return ofRange(wordsView, 0, 4 + Layout.FRAME_HEADER_HEADER_CRC_OFFSET);
  }

  /** CRC of two words. */
  public int ofInts(int first, int second) {
    words.putLong(0, Integer.toUnsignedLong(first) | (long) second << Integer.SIZE);
    return ofRange(wordsView, 0, 8);
  }

  /** CRC of a segment's sequence and a length: the check of a commit mark. */
  int ofMark(long segmentSequence, int length) {
    words.putLong(0, segmentSequence);
    words.putInt(8, length);
    return ofRange(wordsView, 0, 12);
  }

  /** The chain value before the first frame of a segment; never zero. */
  public int ofSegment(SegmentHeader header) {
    words.putInt(0, header.logId());
    words.putLong(4, header.segmentSequence());
    words.putLong(12, header.term());
    words.putLong(20, header.baseIndex());
    words.putLong(28, header.baseChain());
    return neverZero(ofRange(wordsView, 0, 36));
  }

  /** Returns {@code chain}, or 1 for 0: a trailer of zeros says that there is no frame. */
  public static int neverZero(int chain) {
    return chain == 0 ? 1 : chain;
  }
}
