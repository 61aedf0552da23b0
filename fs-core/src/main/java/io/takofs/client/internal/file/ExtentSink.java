package io.takofs.client.internal.file;

import io.takofs.base.TakoException;
import io.takofs.layout.Layout;
import io.takofs.memory.Granules;
import io.takofs.proto.Extent;
import io.takofs.proto.Placement;
import java.nio.ByteBuffer;
import java.util.List;

/**
 * Puts bytes into granted extents.
 *
 * <p>Thread rule: one thread at a time.
 */
interface ExtentSink {
  /** Writes the remaining bytes of {@code source} at {@code offset} within {@code extent}. */
  void write(Extent extent, int offset, ByteBuffer source) throws TakoException;

  /**
   * As {@link #write}, of {@code count} granules at the source's position, at most a batch; {@code
   * crcs} gets the checksums of what is written.
   */
  default void writeGranules(Extent extent, int offset, ByteBuffer source, int count, int[] crcs)
      throws TakoException {
    int end = source.position() + count * Layout.GRANULE_SIZE;
    Granules.checksums(source, source.position(), count, crcs);
    write(extent, offset, source.duplicate().limit(end));
    source.position(end);
  }

  /**
   * Writes the checksum entries of {@code count} full granules, from {@code granule} on, of the
   * extent that was written last; granules come in order, soon after their bytes.
   */
  void writeChecksums(Extent extent, int granule, int[] crcs, int count) throws TakoException;

  /**
   * Returns when everything written, but for {@link #inlineTail}, is placed in the server's memory.
   */
  void flush() throws TakoException;

  /**
   * After {@link #flush}: the little that the next commit has to carry, because placing it would
   * take as long as the commit itself.
   */
  List<Placement> inlineTail();

  /** A commit that carried the {@link #inlineTail} succeeded. */
  void inlineTailPlaced();

  /** Whether nothing that was ever begun can still land in the server's memory. */
  boolean allCompleted();

  /** Releases buffers and discards bytes that were not flushed. */
  void close();
}
