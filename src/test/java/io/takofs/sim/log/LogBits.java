package io.takofs.sim.log;

import io.takofs.layout.Layout;
import io.takofs.memory.MappedMemory;
import io.takofs.server.segment.CommitMark;
import io.takofs.server.segment.Crc32cScratch;
import io.takofs.server.segment.FrameCodec;
import io.takofs.server.segment.SegmentHeader;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Random;
import java.util.function.LongPredicate;

/**
 * The bits of a member's log, which may change by themselves: those of a header, a frame, a mark or
 * a promise.
 */
final class LogBits {
  private static final int TRIES = 200;

  private final MappedMemory memory;
  private final int slotCount;
  private final int slotBytes;
  private final Crc32cScratch crc = new Crc32cScratch();

  LogBits(MappedMemory memory, int slotCount, int slotBytes) {
    this.memory = memory;
    this.slotCount = slotCount;
    this.slotBytes = slotBytes;
  }

  /**
   * Changes a bit anywhere in what is not empty, but for frames at which the member has not looked
   * yet: a frame that is not whole may be one that was never finished.
   *
   * @param isKnown whether the member knows of the entry with this index although it has not looked
   *     at its frame
   * @return whether a bit has changed
   */
  boolean flip(Random random, LongPredicate isKnown) {
    for (int i = 0; i < TRIES; i++) {
      ByteBuffer slot = slot(random.nextInt(slotCount));
      int at = random.nextInt(slotBytes);
      int bit = 1 << random.nextInt(Byte.SIZE);
      if (slot.get(at) != 0) {
        boolean may = at < Layout.SEGMENT_DATA_OFFSET || isKnown.test(indexAt(slot, at));
        if (may) {
          slot.put(at, (byte) (slot.get(at) ^ bit));
        }
        return may;
      }
    }
    return false;
  }

  /**
   * The index of the frame at {@code at}: 0 when the member has looked at it, {@link
   * Long#MAX_VALUE} when it may be in no frame.
   */
  private long indexAt(ByteBuffer slot, int at) {
    SegmentHeader header = SegmentHeader.read(slot, crc);
    if (header == null) {
      return Long.MAX_VALUE;
    }
    int end =
        switch (header.state()) {
          case SEALED, FLUSHED -> header.sealedLength();
          case GRANTED -> Layout.SEGMENT_DATA_OFFSET; // the leader writes, nobody has looked
          case OPEN -> CommitMark.read(slot, header.segmentSequence(), crc);
          default -> CommitMark.UNREADABLE;
        };
    if (end == CommitMark.UNREADABLE) {
      return Long.MAX_VALUE;
    }
    if (at < end) {
      return 0;
    }
    while (end + FrameCodec.OVERHEAD <= slotBytes) {
      int length = FrameCodec.length(slot, end);
      if (length <= 0 || length > slotBytes - end - FrameCodec.OVERHEAD) {
        break;
      }
      int next = end + FrameCodec.frameSize(length);
      if (at < next) {
        return FrameCodec.index(slot, end);
      }
      end = next;
    }
    return Long.MAX_VALUE;
  }

  /** Changes a bit of {@code value}, of which there is a frame; false when there is none. */
  boolean flipIn(long value) {
    ByteBuffer bytes = bytes();
    int at = find(bytes, value);
    if (at < 0) {
      return false;
    }
    bytes.putLong(at, value ^ 1);
    return true;
  }

  /** Whether there is a frame of {@code value}. */
  boolean has(long value) {
    return find(bytes(), value) >= 0;
  }

  private ByteBuffer bytes() {
    return memory.slice(0, slotCount * slotBytes).order(ByteOrder.BIG_ENDIAN);
  }

  private static int find(ByteBuffer bytes, long value) {
    for (int at = 0; at < bytes.capacity(); at += Long.BYTES) { // payloads begin at multiples of 8
      if (bytes.getLong(at) == value) {
        return at;
      }
    }
    return -1;
  }

  private ByteBuffer slot(int index) {
    return memory.slice((long) index * slotBytes, slotBytes);
  }
}
