package io.takofs.transport.staging;

import io.takofs.base.Invariant;
import io.takofs.base.TakoException;
import io.takofs.layout.Layout;
import io.takofs.memory.MappedMemory;
import io.takofs.proto.Status;

/**
 * The part of mapped memory that a region covers.
 *
 * @param owned whether the memory is closed with the region
 * @param offset of the first byte in {@code memory}, bytes
 * @param length bytes
 */
public record MappedRange(MappedMemory memory, boolean owned, long offset, int length) {
  private static final int PAGE = 4096;

  /** All of {@code memory}, which belongs to the region. */
  public static MappedRange owned(MappedMemory memory, int length) {
    return new MappedRange(memory, true, 0, length);
  }

  /**
   * A part of {@code memory}, which outlives the region.
   *
   * @throws TakoException INVALID_ARGUMENT when no region has so many bytes
   */
  public static MappedRange within(MappedMemory memory, long offset, int length)
      throws TakoException {
    checkLength(length);
    Invariant.check(
        offset >= 0 && offset <= memory.length() - length,
        () -> "region of " + length + " bytes at " + offset + " of " + memory.length());
    return new MappedRange(memory, false, offset, length);
  }

  /**
   * Bytes of the pages that {@code length} bytes take.
   *
   * @throws TakoException INVALID_ARGUMENT when no region has so many bytes
   */
  public static long pages(int length) throws TakoException {
    checkLength(length);
    return (length + (long) PAGE - 1) & -PAGE;
  }

  private static void checkLength(int length) throws TakoException {
    if (length <= 0 || length > Layout.ARENA_SIZE) {
      throw new TakoException(
          Status.INVALID_ARGUMENT,
          "a region has 1 to " + Layout.ARENA_SIZE + " bytes, not " + length);
    }
  }

  /** Address of the first byte in this process. */
  public long address() {
    return memory.address() + offset;
  }

  /** Offset of the first byte in the mapped file, bytes. */
  public long fileOffset() {
    return memory.fileOffset() + offset;
  }
}
