package io.takofs.memory;

import io.takofs.jni.NativeCore;
import io.takofs.jni.NativeLibrary;
import io.takofs.layout.Layout;
import java.nio.ByteBuffer;
import java.util.Objects;
import java.util.zip.CRC32C;

/**
 * Checksums of whole granules, several at a time. Positions of buffers are absolute.
 *
 * <p>Thread rule: any thread.
 */
public final class Granules {
  /** As many as are worth one call, and stay in the caches. */
  public static final int BATCH = 16;

  private static final boolean FAST =
      NativeLibrary.isAvailable() && NativeCore.checksums(null, new byte[1], 0, 0, new int[1]) == 0;

  private Granules() {}

  /**
   * Puts the CRC32C of {@code count} granules from {@code offset} of {@code bytes} into {@code
   * crcs}.
   *
   * @throws IndexOutOfBoundsException when one has not so many
   */
  public static void checksums(ByteBuffer bytes, int offset, int count, int[] crcs) {
    check(bytes, offset, count, crcs);
    if (!FAST || (!bytes.isDirect() && !bytes.hasArray())) {
      slowly(bytes, offset, count, crcs);
    } else if (bytes.isDirect()) {
      touch(bytes, offset, count);
      NativeCore.checksums(bytes, null, offset, count, crcs);
    } else {
      NativeCore.checksums(null, bytes.array(), bytes.arrayOffset() + offset, count, crcs);
    }
  }

  /**
   * Copies {@code count} granules from {@code at} of {@code from} to {@code offset} of {@code to};
   * {@code crcs} gets the checksums of the copy, whoever changes the original meanwhile.
   *
   * @throws IndexOutOfBoundsException when one has not so many
   */
  public static void copy(
      ByteBuffer from, int at, ByteBuffer to, int offset, int count, int[] crcs) {
    check(from, at, count, crcs);
    check(to, offset, count, crcs);
    if (!FAST || !from.isDirect() || to.isReadOnly()) {
      to.put(offset, from, at, count * Layout.GRANULE_SIZE);
      slowly(to, offset, count, crcs);
    } else if (to.isDirect()) {
      touch(to, offset, count);
      NativeCore.copyChecksums(from, at, to, null, offset, count, crcs);
    } else {
      NativeCore.copyChecksums(from, at, null, to.array(), to.arrayOffset() + offset, count, crcs);
    }
  }

  /** Throws when the memory of the buffer was freed. */
  private static void touch(ByteBuffer bytes, int offset, int count) {
    if (count > 0) {
      bytes.get(offset);
    }
  }

  private static void check(ByteBuffer bytes, int offset, int count, int[] crcs) {
    Objects.checkFromIndexSize(0, count, crcs.length);
    Objects.checkFromIndexSize(offset, (long) count * Layout.GRANULE_SIZE, bytes.limit());
  }

  private static void slowly(ByteBuffer bytes, int offset, int count, int[] crcs) {
    CRC32C crc = new CRC32C();
    for (int i = 0; i < count; i++) {
      crc.reset();
      crc.update(bytes.slice(offset + i * Layout.GRANULE_SIZE, Layout.GRANULE_SIZE));
      crcs[i] = (int) crc.getValue();
    }
  }
}
