package io.takofs.base;

import com.sun.security.auth.module.UnixSystem;
import io.takofs.proto.Status;
import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.EnumSet;
import java.util.Map;
import java.util.Set;

/**
 * Whose files are. In a directory where every user may make files (/tmp, /dev/shm) a path that can
 * be predicted may be another user's when we come to it, or a symbolic link that leads to a file of
 * ours.
 *
 * <p>Thread rule: any thread.
 */
public final class Ownership {
  private static final int ROOT = 0;

  private static final Set<PosixFilePermission> OTHERS_WRITE =
      EnumSet.of(PosixFilePermission.GROUP_WRITE, PosixFilePermission.OTHERS_WRITE);

  private static final FileAttribute<Set<PosixFilePermission>> PRIVATE =
      PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------"));

  private Ownership() {}

  /** Numeric id of the user who runs this process. */
  private static int user() {
    return (int) new UnixSystem().getUid();
  }

  /** Whether something is at {@code path}, a symbolic link that leads nowhere included. */
  public static boolean exists(Path path) {
    return Files.exists(path, LinkOption.NOFOLLOW_LINKS);
  }

  /** Whether {@code path} is there, is this user's and is no symbolic link. */
  public static boolean isOurs(Path path) throws IOException {
    if (!exists(path) || Files.isSymbolicLink(path)) {
      return false;
    }
    return owner(path) == user();
  }

  private static int owner(Path path) throws IOException {
    return (int) Files.getAttribute(path, "unix:uid", LinkOption.NOFOLLOW_LINKS);
  }

  /**
   * Makes {@code path} and what is missing above it, or checks what is there; afterwards it is a
   * directory that only this user can write to.
   *
   * @throws TakoException PERMISSION_DENIED, naming the owner, when it is a symbolic link or
   *     another's; INVALID_ARGUMENT when it is no directory
   */
  public static void makePrivateDirectory(Path path) throws IOException {
    Path parent = path.toAbsolutePath().getParent();
    if (parent != null) {
      Files.createDirectories(parent);
    }
    try {
      Files.createDirectory(path, PRIVATE);
    } catch (FileAlreadyExistsException e) {
      requirePrivateDirectory(path);
    }
  }

  /** As {@link #makePrivateDirectory}, of a directory that is there. */
  public static void requirePrivateDirectory(Path path) throws IOException {
    requireOurs(path);
    if (!Files.isDirectory(path, LinkOption.NOFOLLOW_LINKS)) {
      throw new TakoException(Status.INVALID_ARGUMENT, path + " is not a directory");
    }
    Set<PosixFilePermission> mode = Files.getPosixFilePermissions(path, LinkOption.NOFOLLOW_LINKS);
    if (mode.removeAll(OTHERS_WRITE)) {
      Files.setPosixFilePermissions(path, mode);
    }
  }

  /**
   * Checks whose {@code path} is, which exists.
   *
   * @throws TakoException PERMISSION_DENIED when it is a symbolic link or another user's
   */
  public static void requireOurs(Path path) throws IOException {
    if (Files.isSymbolicLink(path)) {
      throw new TakoException(
          Status.PERMISSION_DENIED,
          path
              + " is a symbolic link, which may lead anywhere: remove it, or name the place itself");
    }
    if (owner(path) != user()) {
      throw another(path);
    }
  }

  /** As {@link #requireOurs}, of a directory that may also be root's. */
  public static void requireTrusted(Path directory) throws IOException {
    int owner = (int) Files.getAttribute(directory, "unix:uid");
    if (owner != user() && owner != ROOT) {
      throw another(directory);
    }
  }

  private static TakoException another(Path path) throws IOException {
    Map<String, Object> found =
        Files.readAttributes(path, "unix:uid,owner", LinkOption.NOFOLLOW_LINKS);
    return new TakoException(
        Status.PERMISSION_DENIED,
        "%s belongs to another user, %s (uid %s): run as that user, have it removed, or name another place"
            .formatted(path, found.get("owner"), found.get("uid")));
  }
}
