package io.takofs.client.internal.file;

import io.takofs.base.TakoException;
import io.takofs.client.internal.zone.Place;
import io.takofs.layout.Layout;
import io.takofs.memory.Granules;
import java.nio.ByteBuffer;

/**
 * Puts bytes into granted extents, on one server.
 *
 * <p>Thread rule: one thread at a time.
 */
interface ExtentSink {
  /** Whether it has the memory without which it cannot write. */
  default boolean isPrepared() {
    return true;
  }

  /** Takes that memory if there is some. */
  default void tryPrepare() throws TakoException {}

  /**
   * Waits for a moment, in which there may come as much memory as so many sinks need.
   *
   * @throws TakoException NO_SPACE when the deadline is over
   */
  default void awaitMemory(int sinks, long deadlineNs) throws TakoException {}

  /** Writes the remaining bytes of {@code source} at {@code offset} within the extent. */
  void write(Place place, int offset, ByteBuffer source) throws TakoException;

  /**
   * As {@link #write}, of {@code count} granules at the source's position, at most a batch; {@code
   * crcs} gets the checksums of what is written.
   */
  default void writeGranules(Place place, int offset, ByteBuffer source, int count, int[] crcs)
      throws TakoException {
    int end = source.position() + count * Layout.GRANULE_SIZE;
    Granules.checksums(source, source.position(), count, crcs);
    write(place, offset, source.duplicate().limit(end));
    source.position(end);
  }

  /**
   * Whether {@link #writeGranules} copies the bytes before it looks at them, so that it does not
   * matter who changes an array meanwhile.
   */
  default boolean copiesFirst() {
    return false;
  }

  /**
   * Writes the checksum entries of {@code count} full granules, from {@code granule} on, of the
   * extent that was written last; granules come in order, soon after their bytes.
   */
  void writeChecksums(Place place, int granule, int[] crcs, int count) throws TakoException;

  /** Begins a {@link #flush}, so that flushes of several sinks are under way together. */
  default void startFlush() throws TakoException {}

  /**
   * Returns when everything written is placed in the server's memory. A sink that places it before
   * a write returns has nothing to do here and below.
   */
  default void flush() throws TakoException {}

  /** Whether what was written is in the server's memory before a flush. */
  default boolean placesAtOnce() {
    return true;
  }

  /** Adds what was written and may not be in the server's memory to {@code kept}. */
  default void showUnplaced(KeptBytes kept) {}

  /** Whether nothing that was ever begun can still land in the server's memory. */
  default boolean allCompleted() {
    return true;
  }

  /** Releases buffers and discards bytes that were not flushed. */
  default void close() {}
}
