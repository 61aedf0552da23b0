package io.takofs.hadoop.internal;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.IdentityHashMap;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.io.ByteBufferPool;

/**
 * Reads whose buffers are not the caller's: the bytes where they lie, when the client can lend
 * them, or a copy in a buffer of a pool that the caller names.
 *
 * <p>Thread rule: any thread.
 */
final class BorrowedBuffers {
  private final Path path;
  private final BufferedInput in;
  private final IdentityHashMap<ByteBuffer, ByteBufferPool> lent = new IdentityHashMap<>();

  BorrowedBuffers(Path path, BufferedInput in) {
    this.path = path;
    this.in = in;
  }

  /**
   * The next bytes, at most {@code maxLength}; null at the end of the file.
   *
   * @param pool where a buffer for a copy comes from; null when a copy will not do
   * @param verify whether bytes that are lent are checked; copies always are
   * @throws UnsupportedOperationException when there is nothing but a copy, and no pool
   */
  ByteBuffer read(ByteBufferPool pool, int maxLength, boolean verify) throws IOException {
    if (maxLength < 0) {
      throw new IllegalArgumentException(path + ": cannot read " + maxLength + " bytes");
    }
    if (maxLength == 0) {
      return ByteBuffer.allocate(0).asReadOnlyBuffer();
    }
    ByteBuffer bytes = in.borrow(maxLength, verify);
    if (bytes != null) {
      return bytes;
    }
    if (pool == null) {
      if (in.available() == 0) {
        return null;
      }
      throw new UnsupportedOperationException(
          path
              + ": its bytes cannot be lent from where they lie, and no pool was named for a copy");
    }
    return copy(pool, maxLength);
  }

  private ByteBuffer copy(ByteBufferPool pool, int maxLength) throws IOException {
    ByteBuffer buffer = pool.getBuffer(true, maxLength);
    if (buffer == null) {
      throw new UnsupportedOperationException(
          path + ": the pool " + pool + " has no direct buffer of " + maxLength + " bytes");
    }
    boolean there = false;
    try {
      buffer.clear().limit(Math.min(maxLength, buffer.capacity()));
      there = in.read(buffer) > 0;
      buffer.flip();
    } finally {
      if (!there) {
        pool.putBuffer(buffer);
      }
    }
    if (!there) {
      return null;
    }
    synchronized (lent) {
      lent.put(buffer, pool);
    }
    return buffer;
  }

  /** Takes a buffer back. */
  void release(ByteBuffer buffer) {
    if (buffer.capacity() == 0) {
      return; // of a read of nothing
    }
    ByteBufferPool pool;
    synchronized (lent) {
      pool = lent.remove(buffer);
    }
    if (pool != null) {
      pool.putBuffer(buffer);
    } else if (!in.giveBack(buffer)) {
      throw new IllegalArgumentException(
          path + ": a buffer was given back that was not lent, or that was given back before");
    }
  }
}
