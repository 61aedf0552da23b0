package io.takofs.transport;

import io.takofs.base.Invariant;

/**
 * The local side of one operation: up to {@link #MAX} pieces of registered memory. Reused by its
 * owner; a queue pair copies it when an operation is staged.
 *
 * <p>Thread rule: one thread.
 */
public final class ScatterGather {
  /** Pieces one operation may have; the least that RDMA devices in use offer. */
  public static final int MAX = 16;

  private final MemoryRegion[] regions = new MemoryRegion[MAX];
  private final int[] offsets = new int[MAX];
  private final int[] lengths = new int[MAX];
  private int count;

  /** Forgets all pieces. */
  public ScatterGather clear() {
    count = 0;
    return this;
  }

  /**
   * Adds {@code length} bytes of {@code region} from {@code offset}; bounds are checked at the
   * post.
   */
  public ScatterGather add(MemoryRegion region, int offset, int length) {
    Invariant.check(count < MAX, "more than 16 pieces in one operation");
    regions[count] = region;
    offsets[count] = offset;
    lengths[count] = length;
    count++;
    return this;
  }

  public int count() {
    return count;
  }

  public MemoryRegion region(int piece) {
    return regions[piece];
  }

  public int offset(int piece) {
    return offsets[piece];
  }

  public int length(int piece) {
    return lengths[piece];
  }

  /** Bytes of all pieces together. */
  public int totalLength() {
    int total = 0;
    for (int i = 0; i < count; i++) {
      total += lengths[i];
    }
    return total;
  }
}
