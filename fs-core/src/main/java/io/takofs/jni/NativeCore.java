package io.takofs.jni;

import java.nio.ByteBuffer;

/**
 * The native functions, one for one; {@code native/include/tako/core.h} says what each does.
 * Addresses and handles are longs, results are at least 0 or a negated errno.
 *
 * <p>Only {@code io.takofs.memory} and {@code io.takofs.transport.shm} call them, and only when
 * {@link NativeLibrary#isAvailable}. An address must be of memory that the caller keeps mapped.
 */
public final class NativeCore {
  /** Flags of {@link #open}. */
  public static final int OPEN_WRITE = 1;

  public static final int OPEN_CREATE = 2;
  public static final int OPEN_NO_FOLLOW = 8;

  /** Flags of {@link #map}. */
  public static final int MAP_WRITE = 1;

  public static final int MAP_POPULATE = 2;
  public static final int MAP_ANONYMOUS = 4;
  public static final int MAP_HUGE = 8;

  /** Granules that one call looks at. */
  public static final int GRANULES_MAX = 16;

  /** Lowest bit of a mapping's address: stores are durable after {@link #persist} alone. */
  public static final int MAP_SYNCHRONOUS = 1;

  /** Operations of {@link #lock}. */
  public static final int LOCK_TAKE = 0;

  public static final int LOCK_TEST = 1;
  public static final int LOCK_SHARE = 2;
  public static final int LOCK_FREE = 3;

  /** Results of {@link #post}. */
  public static final int POST_DONE = 0;

  public static final int POST_WANTS_MAPPING = 1;

  /** The peer has ended the pair; nothing of the post counts. */
  public static final int POST_REVOKED = 2;

  /** The pair went into error; the status that is added says why. */
  public static final int POST_FAILED = 16;

  private NativeCore() {}

  /** The layout hash the library was compiled with. */
  static native long layoutHash();

  /** A direct buffer over mapped memory. */
  public static native ByteBuffer view(long address, int length);

  /** Opens the regular file named by the zero-terminated bytes at {@code path}. */
  public static native int open(long path, int flags);

  public static native int close(int fd);

  public static native int allocate(int fd, long length);

  /** A lock of {@code length} bytes from {@code offset}, 0 for all after it. */
  public static native int lock(int fd, int operation, long offset, long length);

  public static native long map(int fd, long offset, long length, int flags);

  /** Unmaps, or with {@code keepRange} 1 puts private zeroes in the mapping's place. */
  public static native int unmap(long address, long length, int keepRange);

  /** Makes pages of a direct buffer present; the caller has checked the range. */
  public static native int populate(ByteBuffer memory, int at, int length);

  public static native int persist(long address, long length, int synchronous);

  /**
   * Copies {@code length} bytes, past the caches. Of this and what follows: buffers are direct, and
   * the caller has checked the ranges.
   */
  public static native void store(ByteBuffer to, int at, ByteBuffer from, int offset, int length);

  /**
   * CRC32C of each of {@code count} granules, at most {@link #GRANULES_MAX}; of none, of which the
   * buffer may be null, it tells whether there is a fast way.
   */
  public static native int checksums(ByteBuffer granules, int offset, int count, int[] crcs);

  /** As {@link #checksums}, of a copy that is made. */
  public static native int copyChecksums(
      ByteBuffer to, int at, ByteBuffer granules, int offset, int count, int[] crcs);

  /** As {@link #copyChecksums}, past the caches; the copy begins at a multiple of 64. */
  public static native int storeChecksums(
      ByteBuffer to, int at, ByteBuffer granules, int offset, int count, int[] crcs);

  /** As {@link #copyChecksums}, into an array. */
  public static native int copyToArray(
      byte[] to, int at, ByteBuffer granules, int offset, int count, int[] crcs);

  public static native int attach(long completionQueue, int slot, long queuePair);

  public static native int poll(long completionQueue, long out, int max);

  public static native int await(long completionQueue, long timeoutNs);

  public static native int wake(long completionQueue);

  public static native int post(long queuePair, long work, int bytes);

  public static native int postReceive(long queuePair, long id);

  public static native int fail(long queuePair, int state);
}
