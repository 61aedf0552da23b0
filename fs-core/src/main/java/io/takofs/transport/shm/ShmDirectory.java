package io.takofs.transport.shm;

import io.takofs.base.Ownership;
import io.takofs.base.TakoException;
import io.takofs.base.Undo;
import io.takofs.jni.NativeCore;
import io.takofs.memory.NativeFile;
import io.takofs.proto.Status;
import java.io.IOException;
import java.lang.invoke.VarHandle;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The directory in which one transport of one process keeps what it shares, and the lock that tells
 * others that the process lives. {@link #create} ends the queue pairs of dead processes and removes
 * their files, except those that peers are still attached to.
 *
 * <p>Thread rule: any thread.
 */
final class ShmDirectory implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(ShmDirectory.class);
  private static final FileAttribute<?> PRIVATE =
      PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------"));
  private static final String PREFIX = "tako-shm-";
  private static final String NEW_PREFIX = "tako-new-";
  private static final String LOCK = "lock";
  private static final Duration NEW_AGE_MAX = Duration.ofMinutes(1);

  private final Path path;
  private final NativeFile lock;

  private ShmDirectory(Path path, NativeFile lock) {
    this.path = path;
    this.lock = lock;
  }

  /** Makes a directory of this process in {@code parent}, after removing those of dead ones. */
  static ShmDirectory create(Path parent) throws IOException {
    if (!Ownership.exists(parent)) {
      Ownership.makePrivateDirectory(parent);
    }
    Ownership.requireTrusted(parent);
    removeStale(parent);
    String name = String.format("%016x", new SecureRandom().nextLong());
    // Renamed to its final name when it is locked: a directory with that name and no lock is stale.
    try (Undo undo = new Undo()) {
      Path unready = Files.createDirectory(parent.resolve(NEW_PREFIX + name), PRIVATE);
      undo.add(() -> removeTree(unready));
      NativeFile lock =
          undo.add(
              NativeFile.open(
                  unready.resolve(LOCK), NativeCore.OPEN_WRITE | NativeCore.OPEN_CREATE));
      if (!lock.tryLock()) {
        throw new IOException("a new lock file is locked by another: " + unready);
      }
      ShmDirectory made =
          new ShmDirectory(Files.move(unready, parent.resolve(PREFIX + name)), lock);
      undo.keep();
      return made;
    }
  }

  /** Directory of the transport's files. */
  Path path() {
    return path;
  }

  /** Makes a private directory within. */
  Path createDirectory(String name) throws IOException {
    return Files.createDirectory(path.resolve(name), PRIVATE);
  }

  /**
   * Ends the queue pairs of processes that are gone, which cannot do it themselves, then removes
   * their directories in {@code parent}, as far as we may. The pairs end first, and whether or not
   * a peer is attached: when a directory is no longer there, its pairs were ended, whoever removed
   * it.
   *
   * @return whether a directory had to stay because a peer is attached to it, or may be
   * @throws TakoException UNAVAILABLE when a pair may have stayed as it was; all directories were
   *     tried
   */
  static boolean removeStale(Path parent) throws IOException {
    List<Path> candidates;
    try (Stream<Path> entries = Files.list(parent)) {
      candidates = entries.toList();
    }
    List<Path> stale = new ArrayList<>();
    TakoException failure = null;
    for (Path candidate : candidates) {
      try {
        if (isStale(candidate)) {
          Inbox.revokeAll(candidate);
          stale.add(candidate);
        }
      } catch (IOException e) {
        if (!Files.notExists(candidate)) {
          failure = notEnded(candidate, e); // of several, one is enough to act on
        }
      }
    }
    // Between the words and whatever the caller looks at next. A directory that another has taken
    // away meanwhile had its words set before, and our looking for it came after that.
    VarHandle.fullFence();
    boolean attached = false;
    for (Path each : stale) {
      attached |= !tryRemove(each);
    }
    if (failure != null) {
      throw failure;
    }
    return attached;
  }

  private static TakoException notEnded(Path directory, IOException cause) {
    return new TakoException(
        Status.UNAVAILABLE,
        "cannot end the connections of the process that made %s: %s; when that process is gone, end those that used its memory and remove the directory"
            .formatted(directory, cause),
        cause);
  }

  private static boolean tryRemove(Path stale) {
    try {
      boolean removed = removeUnattached(stale);
      LOG.debug("{}, left by a process that is gone: removed {}", stale, removed);
      return removed;
    } catch (IOException e) {
      if (Files.notExists(stale)) {
        return true;
      }
      LOG.warn("cannot tell whether {} is in use: {}", stale, e.toString());
      return false;
    }
  }

  /** Removes a transport's directory unless a peer is attached to a domain in it. */
  private static boolean removeUnattached(Path directory) throws IOException {
    List<Path> domains;
    try (Stream<Path> entries = Files.list(directory)) {
      domains = entries.filter(Files::isDirectory).toList();
    }
    List<NativeFile> excluded = new ArrayList<>();
    try {
      for (Path domain : domains) {
        if (!Attachment.exclude(domain, excluded)) {
          return false;
        }
      }
      // Gone at once for peers: they must not find its regions when the locks are gone already.
      String name = directory.getFileName().toString().replaceFirst(PREFIX, NEW_PREFIX);
      removeTree(Files.move(directory, directory.resolveSibling(name)));
      return true;
    } finally {
      excluded.forEach(NativeFile::close);
    }
  }

  private static boolean isStale(Path directory) throws IOException {
    String name = directory.getFileName().toString();
    if ((!name.startsWith(NEW_PREFIX) && !name.startsWith(PREFIX))
        || !Ownership.isOurs(directory)
        || !Files.isDirectory(directory, LinkOption.NOFOLLOW_LINKS)) {
      return false;
    }
    if (name.startsWith(NEW_PREFIX)) {
      Instant made = Files.getLastModifiedTime(directory).toInstant();
      return made.isBefore(Instant.now().minus(NEW_AGE_MAX));
    }
    try (NativeFile lock =
        NativeFile.open(
            directory.resolve(LOCK), NativeCore.OPEN_WRITE | NativeCore.OPEN_NO_FOLLOW)) {
      return !lock.isLockedByOther(); // taking it would look like life to whoever else asks
    }
  }

  static void removeTree(Path root) throws IOException {
    try {
      Files.walkFileTree(root, new Remover());
    } catch (NoSuchFileException e) {
      LOG.debug("{} was removed by another", root);
    }
  }

  private static final class Remover extends SimpleFileVisitor<Path> {
    @Override
    public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
      Files.deleteIfExists(file);
      return FileVisitResult.CONTINUE;
    }

    @Override
    public FileVisitResult postVisitDirectory(Path directory, IOException error)
        throws IOException {
      Files.deleteIfExists(directory);
      return FileVisitResult.CONTINUE;
    }
  }

  /**
   * Removes everything; mappings that peers hold stay good. While a peer is attached, the next
   * process removes the rest.
   */
  @Override
  public void close() {
    try {
      removeUnattached(path);
    } catch (IOException e) {
      LOG.warn("cannot remove {}: {}", path, e.toString());
    }
    lock.close();
  }
}
