package io.takofs.memory;

import io.takofs.base.TakoException;
import io.takofs.jni.NativeLibrary;
import io.takofs.layout.Layout;
import java.nio.ByteBuffer;

/**
 * A buffer of each thread, by way of which bytes of arrays reach native code: small enough to stay
 * in the caches, and not of the direct memory that a JVM's other users share.
 *
 * <p>Thread rule: any thread, each has its own.
 */
final class Scratch {
  static final int SIZE = Granules.BATCH * Layout.GRANULE_SIZE;

  private static final ThreadLocal<ByteBuffer> BUFFER = ThreadLocal.withInitial(Scratch::make);

  private Scratch() {}

  /** All of the calling thread's, whatever it holds; in the heap where no other memory is. */
  static ByteBuffer ofThread() {
    return BUFFER.get();
  }

  private static ByteBuffer make() {
    if (NativeLibrary.isAvailable()) {
      try {
        return MappedMemory.anonymous(SIZE, false).slice(0, SIZE);
      } catch (TakoException e) {
        // No mapping is to be had: slower, then.
      }
    }
    return ByteBuffer.allocate(SIZE);
  }
}
