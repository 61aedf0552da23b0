package io.takofs.jni;

import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.HexFormat;
import java.util.Set;

/**
 * Writes the library's bytes where the dynamic linker can read them, and nobody but this user could
 * have put other bytes.
 */
final class ExtractedFile {
  private static final Set<PosixFilePermission> PRIVATE =
      EnumSet.of(
          PosixFilePermission.OWNER_READ,
          PosixFilePermission.OWNER_WRITE,
          PosixFilePermission.OWNER_EXECUTE);

  private ExtractedFile() {}

  /**
   * The file with this content in {@code parent}, in a directory of this user, named after the
   * content's hash: every process uses the same one, and none ever sees half of it.
   */
  static Path shared(Path parent, byte[] content) throws IOException {
    Path directory = privateDirectory(parent);
    Path file = directory.resolve("libtako-" + hash(content) + ".so");
    if (!Files.exists(file) || !Arrays.equals(Files.readAllBytes(file), content)) {
      write(directory, file, content);
    }
    return file;
  }

  /** A file with this content that no other class loader uses; deleted when the process ends. */
  static Path single(Path parent, byte[] content) throws IOException {
    Path file = Files.createTempFile(privateDirectory(parent), "libtako-", ".so");
    file.toFile().deleteOnExit();
    Files.write(file, content);
    return file;
  }

  private static void write(Path directory, Path file, byte[] content) throws IOException {
    Path temporary = Files.createTempFile(directory, "libtako-", ".tmp");
    try {
      Files.write(temporary, content);
      Files.move(
          temporary, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    } finally {
      Files.deleteIfExists(temporary);
    }
  }

  /**
   * In a directory that others may write to, a directory with our name can be theirs: then one with
   * a random name is made.
   */
  private static Path privateDirectory(Path parent) throws IOException {
    FileAttribute<?> mode = PosixFilePermissions.asFileAttribute(PRIVATE);
    Files.createDirectories(parent);
    Path directory = parent.resolve("tako-native-" + System.getProperty("user.name"));
    try {
      return Files.createDirectory(directory, mode);
    } catch (FileAlreadyExistsException e) {
      return isPrivate(directory) ? directory : Files.createTempDirectory(parent, "tako-", mode);
    }
  }

  private static boolean isPrivate(Path directory) throws IOException {
    PosixFileAttributes attributes =
        Files.readAttributes(directory, PosixFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
    Path probe = Files.createTempFile("tako-", null);
    try {
      return attributes.isDirectory()
          && attributes.permissions().equals(PRIVATE)
          && attributes.owner().equals(Files.getOwner(probe));
    } finally {
      Files.delete(probe);
    }
  }

  private static String hash(byte[] content) {
    try {
      return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(content));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every JDK has SHA-256", e);
    }
  }
}
