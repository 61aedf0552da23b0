package io.takofs.client;

import io.takofs.base.TakoException;
import io.takofs.proto.Extent;
import java.nio.ByteBuffer;

/**
 * Puts bytes into granted extents.
 *
 * <p>Thread rule: one thread at a time.
 */
interface ExtentSink {
  /** Writes the remaining bytes of {@code source} at {@code offset} within {@code extent}. */
  void write(Extent extent, int offset, ByteBuffer source) throws TakoException;

  /**
   * Writes the checksum entry of a full granule of the extent that was written last; granules come
   * in order, soon after their bytes.
   */
  void writeChecksum(Extent extent, int granule, int crc32c) throws TakoException;

  /** Returns when everything written is placed in the server's memory. */
  void flush() throws TakoException;

  /** Whether nothing that was ever begun can still land in the server's memory. */
  boolean allCompleted();

  /** Releases buffers; what was not flushed is given up. */
  void close();
}
