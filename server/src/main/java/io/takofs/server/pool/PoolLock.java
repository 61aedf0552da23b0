package io.takofs.server.pool;

import io.takofs.base.TakoException;
import io.takofs.base.Undo;
import io.takofs.proto.Status;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.HashSet;
import java.util.OptionalLong;
import java.util.Set;

/**
 * The lock of a pool: held by the kernel for this process, so it ends with it however it dies.
 *
 * <p>Thread rule: any thread.
 */
final class PoolLock implements AutoCloseable {
  /**
   * Pools that this process holds. The kernel's lock is the process's and would be lost if the file
   * were opened and closed a second time.
   */
  private static final Set<Path> HELD = new HashSet<>();

  private static final Set<PosixFilePermission> PRIVATE =
      PosixFilePermissions.fromString("rw-------");

  private final Path key;
  private final FileChannel channel;
  private final FileLock lock;

  private PoolLock(Path key, FileChannel channel, FileLock lock) {
    this.key = key;
    this.channel = channel;
    this.lock = lock;
  }

  /**
   * @throws TakoException UNAVAILABLE, naming the holder, if another server lives here
   */
  static PoolLock acquire(PoolDirectory directory) throws TakoException {
    Path key = directory.realPath();
    synchronized (HELD) {
      if (!HELD.add(key)) {
        throw held(directory, "this process, pid " + ProcessHandle.current().pid());
      }
      try (Undo undo = new Undo()) {
        undo.add(() -> HELD.remove(key));
        PoolLock acquired = lock(directory, key);
        if (acquired != null) {
          undo.keep();
          return acquired;
        }
      } catch (IOException e) {
        throw PoolDirectory.failed(directory.lock(), "lock", e);
      }
    }
    OptionalLong owner = directory.lastOwner();
    throw held(
        directory,
        owner.isPresent() && ProcessHandle.of(owner.getAsLong()).isPresent()
            ? "pid " + owner.getAsLong()
            : "a process that is just starting");
  }

  private static PoolLock lock(PoolDirectory directory, Path key) throws IOException {
    // A user who can open the file can lock it, and would keep servers from starting.
    Path file = directory.lock();
    try (Undo undo = new Undo()) {
      FileChannel channel =
          undo.add(
              FileChannel.open(
                  file,
                  Set.of(
                      StandardOpenOption.CREATE,
                      StandardOpenOption.WRITE,
                      LinkOption.NOFOLLOW_LINKS),
                  PosixFilePermissions.asFileAttribute(PRIVATE)));
      Files.setPosixFilePermissions(file, PRIVATE); // one of an earlier version
      FileLock lock = channel.tryLock();
      if (lock == null) {
        return null;
      }
      PoolLock acquired = new PoolLock(key, channel, lock);
      undo.keep();
      return acquired;
    }
  }

  private static TakoException held(PoolDirectory directory, String holder) {
    return new TakoException(
        Status.UNAVAILABLE,
        "pool "
            + directory.path()
            + " is held by a live server ("
            + holder
            + "): stop that server, or choose another fs.tako.server.pool.path");
  }

  @Override
  public void close() {
    synchronized (HELD) {
      if (!HELD.remove(key)) {
        return;
      }
      try {
        lock.release();
        channel.close();
      } catch (IOException e) {
        throw new UncheckedIOException("cannot release the lock of pool " + key, e);
      }
    }
  }
}
