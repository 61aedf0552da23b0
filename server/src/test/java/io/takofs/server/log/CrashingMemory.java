package io.takofs.server.log;

import io.takofs.layout.Layout;
import io.takofs.server.segment.LogZone;
import java.nio.ByteBuffer;
import java.util.Random;

/**
 * A log zone on memory that loses what was not made persistent: a crash keeps every persisted byte
 * and any subset of the changes since. A mere kill of the process keeps all of them, which is one
 * of the subsets.
 */
final class CrashingMemory {
  /** Thrown out of the log at the moment of the crash. */
  static final class Crash extends RuntimeException {
    private static final long serialVersionUID = 1;
  }

  private final Random random;
  private final int slotSize;
  private byte[][] persisted;
  private ByteBuffer[] slots;
  private LogZone zone;
  private int persistsUntilCrash = Integer.MAX_VALUE;

  CrashingMemory(Random random, int slotCount, int dataBytes) {
    this.random = random;
    this.slotSize = Layout.SEGMENT_DATA_OFFSET + dataBytes;
    this.persisted = new byte[slotCount][slotSize];
    load(persisted);
  }

  /** The zone as the present process sees it; a crash makes it stale. */
  LogZone zone() {
    return zone;
  }

  /** The process will die at the {@code count}th next persist. */
  void crashAtPersist(int count) {
    persistsUntilCrash = count;
  }

  /** The process dies now. Afterwards {@link #zone} is what is left. */
  void crash() {
    persistsUntilCrash = Integer.MAX_VALUE;
    int granularity = new int[] {1, 8, 64, 512}[random.nextInt(4)];
    double keep = new double[] {0, 0.5, 0.9, 1}[random.nextInt(4)];
    byte[][] left = new byte[slots.length][];
    for (int i = 0; i < slots.length; i++) {
      left[i] = persisted[i].clone();
      for (int from = 0; from < slotSize; from += granularity) {
        if (random.nextDouble() < keep) {
          int length = Math.min(granularity, slotSize - from);
          slots[i].get(from, left[i], from, length);
        }
      }
    }
    load(left);
  }

  /** A copy of the zone with one bit of a random place of the used slots flipped. */
  LogFixture withFlippedBit() {
    LogFixture copy = new LogFixture(slots.length, slotSize - Layout.SEGMENT_DATA_OFFSET);
    byte[][] bytes = new byte[slots.length][slotSize];
    for (int i = 0; i < slots.length; i++) {
      slots[i].get(0, bytes[i]);
    }
    copy.restore(bytes);
    copy.flipBit(random.nextInt(slots.length), random.nextInt(slotSize), random.nextInt(8));
    return copy;
  }

  private void load(byte[][] bytes) {
    persisted = bytes;
    slots = new ByteBuffer[bytes.length];
    for (int i = 0; i < slots.length; i++) {
      slots[i] = ByteBuffer.allocateDirect(slotSize).put(0, bytes[i]);
    }
    zone = new LogZone(slots, this::persist);
  }

  private void persist(int slot, int offset, int length) {
    if (--persistsUntilCrash < 0) {
      throw new Crash();
    }
    slots[slot].get(offset, persisted[slot], offset, length);
  }
}
