package io.takofs.memory;

import io.takofs.base.Invariant;
import io.takofs.base.SharedCleaner;
import io.takofs.base.TakoException;
import io.takofs.jni.NativeCore;
import io.takofs.jni.NativeError;
import io.takofs.proto.Status;
import java.io.IOException;
import java.lang.ref.Cleaner;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.UserPrincipal;

/**
 * An open file of the native core: to be allocated, locked or mapped. Needs the native library.
 *
 * <p>Thread rule: any thread, but close only when nobody uses it; one that is forgotten is closed
 * when it is garbage.
 */
public final class NativeFile implements AutoCloseable {
  private static final int PATH_MAX = 4096;

  /** As the length of a lock: all there is and will be. */
  private static final long WHOLE = 0;

  private static final Object SCRATCH_LOCK = new Object();
  private static MappedMemory scratch;

  private final Path path;
  private final int fd;
  private final Cleaner.Cleanable cleanable;

  private NativeFile(Path path, int fd) {
    this.path = path;
    this.fd = fd;
    this.cleanable = SharedCleaner.register(this, () -> NativeCore.close(fd));
  }

  /**
   * Opens a regular file, and nothing else.
   *
   * @param flags {@code NativeCore.OPEN_*}
   */
  public static NativeFile open(Path path, int flags) throws TakoException {
    byte[] name = path.toString().getBytes(StandardCharsets.UTF_8);
    Invariant.check(name.length < PATH_MAX, () -> "path of " + name.length + " bytes: " + path);
    synchronized (SCRATCH_LOCK) {
      if (scratch == null) {
        scratch = MappedMemory.anonymous(PATH_MAX, true);
      }
      ByteBuffer text = scratch.slice(0, PATH_MAX);
      text.put(name).put((byte) 0);
      int result = NativeCore.open(scratch.address(), flags);
      return new NativeFile(path, NativeError.check(result, "cannot open " + path));
    }
  }

  /** As {@link #open}, refusing with PERMISSION_DENIED a file that is not {@code owner}'s. */
  public static NativeFile openOwned(Path path, int flags, UserPrincipal owner) throws IOException {
    NativeFile file = open(path, flags);
    UserPrincipal found = file.owner();
    if (found.equals(owner)) {
      return file;
    }
    file.close();
    throw new TakoException(
        Status.PERMISSION_DENIED,
        path + " belongs to " + found + ", but the peer that named it runs as " + owner);
  }

  public Path path() {
    return path;
  }

  /** The owner of the open file, even if its name leads to another file by now. */
  UserPrincipal owner() throws IOException {
    return Files.getOwner(self());
  }

  /** Makes an empty file {@code length} bytes long, every one allocated. */
  void allocate(long length) throws TakoException {
    NativeError.check(
        NativeCore.allocate(fd, length), "cannot allocate " + length + " bytes for " + path);
  }

  /** Locks the file until this object is closed or the process dies; false if another holds it. */
  public boolean tryLock() throws TakoException {
    return tryLock(NativeCore.LOCK_TAKE, 0, WHOLE);
  }

  /** As {@link #tryLock}, together with others that share it; false if one holds it alone. */
  public boolean tryShare() throws TakoException {
    return tryShare(0, WHOLE);
  }

  /** As {@link #tryShare}, of a range of the file; {@link #unshare} ends it. */
  public boolean tryShare(long offset, long length) throws TakoException {
    return tryLock(NativeCore.LOCK_SHARE, offset, length);
  }

  /** Gives up what was shared of a range. */
  public void unshare(long offset, long length) throws TakoException {
    tryLock(NativeCore.LOCK_FREE, offset, length);
  }

  private boolean tryLock(int operation, long offset, long length) throws TakoException {
    int result = NativeCore.lock(fd, operation, offset, length);
    if (NativeError.isAgain(result)) {
      return false;
    }
    NativeError.check(result, "cannot lock " + path);
    return true;
  }

  /** Whether another open file, of this process or another, holds or shares the lock. */
  public boolean isLockedByOther() throws TakoException {
    return isLockedByOther(0, WHOLE);
  }

  /** Whether another open file holds or shares a lock of some of a range. */
  public boolean isLockedByOther(long offset, long length) throws TakoException {
    return NativeError.check(
            NativeCore.lock(fd, NativeCore.LOCK_TEST, offset, length),
            "cannot test the lock of " + path)
        != 0;
  }

  /** A name of the open file itself, whatever its own leads to by now. */
  public Path self() {
    return Path.of("/proc/self/fd/" + fd);
  }

  /**
   * Maps part of the file; the mapping outlives this object.
   *
   * @param flags {@code NativeCore.MAP_*}
   */
  public MappedMemory map(long offset, long length, int flags) throws TakoException {
    return MappedMemory.mapNative(path, fd, offset, length, flags);
  }

  @Override
  public void close() {
    cleanable.clean();
  }
}
