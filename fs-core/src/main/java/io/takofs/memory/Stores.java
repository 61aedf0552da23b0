package io.takofs.memory;

import io.takofs.base.TakoException;
import io.takofs.jni.NativeCore;
import io.takofs.jni.NativeError;
import io.takofs.jni.NativeLibrary;
import java.nio.ByteBuffer;
import java.util.Objects;

/**
 * Stores into mapped memory that is written once and read by others.
 *
 * <p>Thread rule: any thread.
 */
public final class Stores {
  /** From so many bytes on it is worth a native call to leave the caches alone. */
  static final int STREAMED_MIN = 16 << 10;

  private Stores() {}

  /**
   * Makes {@code length} bytes from {@code at} present if {@code memory} is mapped, as is worth it
   * for many at a time that will be stored to: touched, each page would cost several times as much.
   *
   * @throws TakoException NO_SPACE when there is no memory for the file's own bytes
   * @throws IndexOutOfBoundsException when the buffer has not so many bytes
   */
  public static void prepare(ByteBuffer memory, int at, int length) throws TakoException {
    Objects.checkFromIndexSize(at, length, memory.limit());
    if (memory.isDirect() && NativeLibrary.isAvailable()) {
      NativeError.check(
          NativeCore.populate(memory, at, length),
          "cannot make " + length + " mapped bytes at " + at + " present");
    }
  }

  /**
   * Copies {@code length} bytes from {@code offset} of {@code from} to {@code at} of {@code to},
   * positions and limits aside; they are stored before whatever this thread stores later.
   *
   * @throws IndexOutOfBoundsException when either buffer has not so many bytes
   */
  public static void copy(ByteBuffer to, int at, ByteBuffer from, int offset, int length) {
    boolean direct = from.isDirect() && to.isDirect() && !to.isReadOnly();
    if (length < STREAMED_MIN || !direct || !NativeLibrary.isAvailable()) {
      to.put(at, from, offset, length);
      return;
    }
    Objects.checkFromIndexSize(at, length, to.limit());
    Objects.checkFromIndexSize(offset, length, from.limit());
    from.get(offset); // throws when its memory was freed
    NativeCore.store(to, at, from, offset, length);
  }
}
