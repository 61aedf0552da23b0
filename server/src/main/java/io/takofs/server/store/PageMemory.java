package io.takofs.server.store;

import io.takofs.base.Invariant;
import io.takofs.layout.Layout;
import io.takofs.memory.MappedMemory;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * A page zone as numbered pages. A page is a place in a buffer of many, because a buffer object a
 * page would cost heap and time.
 *
 * <p>Thread rule: the store's thread.
 */
final class PageMemory {
  /** Bytes of a chunk: what one buffer covers, and what MappedMemory cuts its slices from. */
  private static final int CHUNK_SHIFT = 30;

  private static final int PAGE_SHIFT = Integer.numberOfTrailingZeros(Layout.PAGE_SIZE);
  private static final int IN_CHUNK_SHIFT = CHUNK_SHIFT - PAGE_SHIFT;
  private static final int IN_CHUNK_MASK = (1 << IN_CHUNK_SHIFT) - 1;

  /** Keeps bytes of the zone when power is lost. */
  @FunctionalInterface
  interface Medium {
    void persist(long offset, int length) throws IOException;
  }

  private final ByteBuffer[] chunks;
  private final int pages;
  private final Medium durable; // null where bytes do not outlive a loss of power anyway

  private PageMemory(ByteBuffer[] chunks, int pages, Medium durable) {
    this.chunks = chunks;
    this.pages = pages;
    this.durable = durable;
  }

  /** All of {@code zone}. */
  static PageMemory of(MappedMemory zone) {
    int count = (int) (((zone.length() - 1) >>> CHUNK_SHIFT) + 1);
    ByteBuffer[] chunks = new ByteBuffer[count];
    for (int i = 0; i < count; i++) {
      long from = (long) i << CHUNK_SHIFT;
      chunks[i] = zone.slice(from, (int) Math.min(1L << CHUNK_SHIFT, zone.length() - from));
    }
    Medium durable = zone.isDurable() ? zone::persist : null;
    return new PageMemory(chunks, (int) (zone.length() >>> PAGE_SHIFT), durable);
  }

  /** All of {@code buffer}, at most a GiB. */
  static PageMemory of(ByteBuffer buffer) {
    return of(buffer, null);
  }

  /**
   * All of {@code buffer}, at most a GiB.
   *
   * @param durable null where bytes do not outlive a loss of power anyway
   */
  static PageMemory of(ByteBuffer buffer, Medium durable) {
    ByteBuffer chunk = buffer.slice(0, buffer.capacity()).order(ByteOrder.LITTLE_ENDIAN);
    return new PageMemory(new ByteBuffer[] {chunk}, buffer.capacity() >>> PAGE_SHIFT, durable);
  }

  /** The first {@code count} pages of it. */
  PageMemory first(int count) {
    Invariant.check(count <= pages, "more pages than there are");
    return new PageMemory(chunks, count, durable);
  }

  int pages() {
    return pages;
  }

  /** The buffer that {@code page} lies in. */
  ByteBuffer buffer(int page) {
    return chunks[page >>> IN_CHUNK_SHIFT];
  }

  /** The offset of {@code page} in its buffer. */
  int offset(int page) {
    return (page & IN_CHUNK_MASK) << PAGE_SHIFT;
  }

  /** Makes the first {@code length} bytes of {@code page} as durable as the memory can. */
  void persist(int page, int length) {
    if (durable == null) {
      return;
    }
    try {
      durable.persist((long) page << PAGE_SHIFT, length);
    } catch (IOException e) {
      throw new UncheckedIOException("page " + page + " cannot be made durable", e);
    }
  }
}
