package io.takofs.memory;

import io.takofs.jni.NativeCore;
import io.takofs.jni.NativeLibrary;
import io.takofs.layout.Layout;
import java.nio.ByteBuffer;
import java.util.Objects;
import java.util.zip.CRC32C;

/**
 * Checksums of whole granules, at most {@link #BATCH} at a time. Positions of buffers are absolute.
 *
 * <p>Thread rule: any thread.
 */
public final class Granules {
  /** As many as are worth one call, and stay in the caches. */
  public static final int BATCH = NativeCore.GRANULES_MAX;

  private static final int STREAMED_ALIGNMENT = 64;

  private static final boolean FAST =
      NativeLibrary.isAvailable() && NativeCore.checksums(null, 0, 0, new int[1]) == 0;

  private Granules() {}

  /**
   * Puts the CRC32C of {@code count} granules from {@code offset} of {@code bytes} into {@code
   * crcs}.
   *
   * @throws IndexOutOfBoundsException when one has not so many
   */
  public static void checksums(ByteBuffer bytes, int offset, int count, int[] crcs) {
    check(bytes, offset, count, crcs);
    if (FAST && bytes.isDirect()) {
      touch(bytes, offset, count);
      NativeCore.checksums(bytes, offset, count, crcs);
    } else {
      slowly(bytes, offset, count, crcs);
    }
  }

  /**
   * Copies {@code count} granules from {@code offset} of {@code from} to {@code at} of {@code to};
   * {@code crcs} gets the checksums of the copy, whoever changes the original meanwhile.
   *
   * @throws IndexOutOfBoundsException when one has not so many
   */
  public static void copy(
      ByteBuffer to, int at, ByteBuffer from, int offset, int count, int[] crcs) {
    check(from, offset, count, crcs);
    check(to, at, count, crcs);
    if (!FAST || !from.isDirect() || to.isReadOnly()) {
      to.put(at, from, offset, count * Layout.GRANULE_SIZE);
      checksums(to, at, count, crcs);
    } else if (to.isDirect()) {
      touch(to, at, count);
      NativeCore.copyChecksums(to, at, from, offset, count, crcs);
    } else {
      NativeCore.copyToArray(to.array(), to.arrayOffset() + at, from, offset, count, crcs);
    }
  }

  /**
   * Copies {@code count} granules, as {@link #copy} does, into memory that is written once, past
   * the caches if they are many. The original must not change meanwhile ({@link StableBytes}); what
   * is there already may.
   *
   * @throws IndexOutOfBoundsException when one has not so many
   */
  public static void store(
      ByteBuffer to, int at, ByteBuffer from, int offset, int count, int[] crcs) {
    check(from, offset, count, crcs);
    check(to, at, count, crcs);
    int length = count * Layout.GRANULE_SIZE;
    if (!FAST || !from.isDirect() || !to.isDirect() || to.isReadOnly()) {
      checksums(from, offset, count, crcs);
      Stores.copy(to, at, from, offset, length);
    } else if (length >= Stores.STREAMED_MIN && to.alignmentOffset(at, STREAMED_ALIGNMENT) == 0) {
      touch(from, offset, count);
      NativeCore.storeChecksums(to, at, from, offset, count, crcs);
    } else {
      touch(from, offset, count);
      NativeCore.copyChecksums(to, at, from, offset, count, crcs);
    }
  }

  /** Throws when the memory of the buffer was freed. */
  private static void touch(ByteBuffer bytes, int offset, int count) {
    if (count > 0) {
      bytes.get(offset);
    }
  }

  private static void check(ByteBuffer bytes, int offset, int count, int[] crcs) {
    Objects.checkFromIndexSize(0, count, Math.min(crcs.length, BATCH));
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
