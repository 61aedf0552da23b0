package io.takofs.transport.shm;

import io.takofs.base.Ownership;
import io.takofs.base.Undo;
import io.takofs.jni.NativeCore;
import io.takofs.memory.NativeFile;
import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
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
 * others that the process lives. The constructor removes the files of dead processes, except those
 * that peers are still attached to.
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
   * Removes the directories in {@code parent} whose processes are gone, as far as we may.
   *
   * @return whether one had to stay because a peer is attached to it, or may be
   */
  static boolean removeStale(Path parent) throws IOException {
    boolean attached = false;
    List<Path> candidates;
    try (Stream<Path> entries = Files.list(parent)) {
      candidates = entries.toList();
    }
    for (Path candidate : candidates) {
      try {
        if (isStale(candidate)) {
          boolean removed = removeUnattached(candidate);
          LOG.debug("{}, left by a process that is gone: removed {}", candidate, removed);
          attached |= !removed;
        }
      } catch (IOException e) {
        if (Files.exists(candidate)) {
          LOG.warn("cannot tell whether {} is in use: {}", candidate, e.toString());
          attached = true;
        }
      }
    }
    return attached;
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
        || !Ownership.isOurs(directory)) {
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
