package io.takofs.memory;

import io.takofs.layout.Layout;
import java.nio.ByteBuffer;

/**
 * A direct buffer of each thread, by way of which bytes of arrays reach native code: small enough
 * to stay in the caches.
 *
 * <p>Thread rule: any thread, each has its own.
 */
final class Scratch {
  static final int SIZE = Granules.BATCH * Layout.GRANULE_SIZE;

  private static final ThreadLocal<ByteBuffer> BUFFER =
      ThreadLocal.withInitial(() -> ByteBuffer.allocateDirect(SIZE));

  private Scratch() {}

  /** All of the calling thread's, whatever it holds. */
  static ByteBuffer ofThread() {
    return BUFFER.get();
  }
}
