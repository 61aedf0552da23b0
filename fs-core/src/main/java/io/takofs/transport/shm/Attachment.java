package io.takofs.transport.shm;

import io.takofs.base.TakoException;
import io.takofs.jni.NativeCore;
import io.takofs.memory.NativeFile;
import io.takofs.proto.Status;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.UserPrincipal;
import java.util.List;
import java.util.Optional;

/**
 * A peer's hold on memory that outlives the process that exports it, from before the first mapping
 * until after the last is gone: a lock that peers share, on a file of the protection domain. It
 * tells whoever uses the memory next, when the exporter is long dead, that somebody may still write
 * to it. A domain without such memory has no such file.
 *
 * <p>Thread rule: any thread.
 */
final class Attachment implements AutoCloseable {
  private static final String FILE_NAME = "peers";

  private final NativeFile file;

  private Attachment(NativeFile file) {
    this.file = file;
  }

  /** From now on peers attach to the domain; before anything that outlives it is exported. */
  static void prepare(Path domainDirectory) throws IOException {
    Path path = domainDirectory.resolve(FILE_NAME);
    if (!Files.exists(path)) {
      Files.createFile(path);
    }
  }

  /** Whether peers attach to the domain. */
  static boolean isPrepared(Path domainDirectory) {
    return Files.exists(domainDirectory.resolve(FILE_NAME));
  }

  /**
   * Attaches to a peer's domain, if it wants that; before any of its regions is opened.
   *
   * @throws TakoException UNAVAILABLE when the domain is being removed, PERMISSION_DENIED when the
   *     file is not {@code owner}'s
   */
  static Optional<Attachment> to(Path domainDirectory, UserPrincipal owner) throws IOException {
    Path path = domainDirectory.resolve(FILE_NAME);
    if (!Files.exists(path)) {
      return Optional.empty();
    }
    NativeFile file = NativeFile.openOwned(path, NativeCore.OPEN_NO_FOLLOW, owner);
    // A process locks the file before it removes the domain: a lock that is taken later is on a
    // removed file.
    if (file.tryShare() && Files.exists(path)) {
      return Optional.of(new Attachment(file));
    }
    file.close();
    throw new TakoException(Status.UNAVAILABLE, domainDirectory + " is being removed");
  }

  /**
   * Keeps peers from attaching to a domain until what is added to {@code locks} is closed.
   *
   * @return false when a peer is attached already
   */
  static boolean exclude(Path domainDirectory, List<NativeFile> locks) throws TakoException {
    Path path = domainDirectory.resolve(FILE_NAME);
    if (!Files.exists(path)) {
      return true;
    }
    NativeFile file = NativeFile.open(path, NativeCore.OPEN_WRITE | NativeCore.OPEN_NO_FOLLOW);
    locks.add(file);
    return file.tryLock();
  }

  @Override
  public void close() {
    file.close();
  }
}
