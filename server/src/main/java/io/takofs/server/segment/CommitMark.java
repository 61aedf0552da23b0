package io.takofs.server.segment;

import io.takofs.layout.Layout;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;

/**
 * The position up to which a segment is known to be committed, kept beside its header. Without it a
 * damaged frame at the end of the log could not be told from one that was never finished, and
 * acknowledged entries would vanish silently.
 *
 * <p>Each of the two copies is one aligned 8-byte word, so a store is never torn; the check, which
 * includes the segment's sequence, refuses damage and the marks of earlier segments.
 */
public final class CommitMark {
  private static final int[] COPIES = {Layout.SEGMENT_MARK_A, Layout.SEGMENT_MARK_B};

  /** The result of {@link #read} when no copy is whole. */
  public static final int UNREADABLE = -1;

  private CommitMark() {}

  /** Says that the first {@code length} bytes of the segment hold committed frames. */
  public static void write(
      LogZone zone, int slot, long segmentSequence, int length, Crc32cScratch crc) {
    long word =
        Integer.toUnsignedLong(length) | (long) crc.ofMark(segmentSequence, length) << Integer.SIZE;
    ByteBuffer memory = zone.slot(slot);
    VarHandle.releaseFence();
    for (int copy : COPIES) {
      memory.putLong(copy, word);
      zone.persist(slot, copy, Long.BYTES);
    }
  }

  /** Gives the slot {@code to} the marks of the slot {@code from}. */
  public static void copy(LogZone zone, int from, int to) {
    for (int copy : COPIES) {
      zone.slot(to).putLong(copy, zone.slot(from).getLong(copy));
      zone.persist(to, copy, Long.BYTES);
    }
  }

  /** Committed bytes of the segment, or {@link #UNREADABLE}. */
  public static int read(ByteBuffer memory, long segmentSequence, Crc32cScratch crc) {
    int length = UNREADABLE;
    for (int copy : COPIES) {
      int candidate = memory.getInt(copy + Layout.SEGMENT_MARK_COMMITTED_LENGTH_OFFSET);
      int check = memory.getInt(copy + Layout.SEGMENT_MARK_CHECK_OFFSET);
      if (check == crc.ofMark(segmentSequence, candidate)) {
        length = Math.max(length, candidate);
      }
    }
    return length;
  }
}
