package io.takofs.memory;

import io.takofs.base.Invariant;
import io.takofs.base.SharedCleaner;
import io.takofs.base.Undo;
import io.takofs.jni.NativeCore;
import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A native mapping. It has two ends: {@link #discard} releases the file and leaves zeroes, so that
 * a thread that still uses a buffer never faults; the address range is returned when no buffer over
 * it can be reached any more.
 */
final class Mapping {
  private final long start;
  private final long length;
  private final boolean synchronous;
  private final AtomicInteger views = new AtomicInteger(1);

  /**
   * @param synchronous whether stores reach durable memory: the file is on DAX
   */
  Mapping(long start, long length, boolean synchronous) {
    this.start = start;
    this.length = length;
    this.synchronous = synchronous;
  }

  /** Address of the first byte. */
  long start() {
    return start;
  }

  boolean isSynchronous() {
    return synchronous;
  }

  /** A buffer over {@code size} bytes at {@code offset}; it and its slices keep the range. */
  ByteBuffer view(long offset, int size) {
    try (Undo undo = new Undo()) {
      views.incrementAndGet();
      undo.add(this::release);
      ByteBuffer view = NativeCore.view(start + offset, size);
      SharedCleaner.register(view, this::release);
      undo.keep();
      return view;
    }
  }

  /** Gives back the reference the constructor took; call when all views are made. */
  void release() {
    if (views.decrementAndGet() == 0) {
      NativeCore.unmap(start, length, 0);
    }
  }

  void discard() {
    int result = NativeCore.unmap(start, length, 1);
    Invariant.check(result == 0, () -> "unmapping failed with errno " + -result);
  }
}
