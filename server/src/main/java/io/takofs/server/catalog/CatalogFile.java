package io.takofs.server.catalog;

import io.takofs.base.Ownership;
import io.takofs.base.TakoException;
import io.takofs.proto.Status;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;
import java.util.zip.CRC32C;

/**
 * The values of a catalog in a file with a checksum. It is replaced as a whole, fsynced, so that a
 * crash leaves the former or the new.
 *
 * <p>Thread rule: one that writes at a time; readers at any time.
 */
public final class CatalogFile {
  private static final int MAGIC = 0x54434154; // TCAT
  private static final int HEADER = 12; // magic, CRC32C of what follows, length

  private final Path file;
  private final Path part;
  private final Steps steps;

  /** Told after each step of a change, so that a test can stop there for good. */
  @FunctionalInterface
  interface Steps {
    void done(String step) throws IOException;
  }

  /** The file at {@code file}, whose directory is there when it is written. */
  public CatalogFile(Path file) {
    this(file, step -> {});
  }

  CatalogFile(Path file, Steps steps) {
    this.file = file.toAbsolutePath();
    this.part = this.file.resolveSibling(file.getFileName() + ".part");
    this.steps = steps;
  }

  /** Whether it is there. */
  public boolean exists() {
    return Files.exists(file);
  }

  /**
   * The values.
   *
   * @return empty ones when there is no file
   * @throws IOException when it cannot be read; {@link TakoException} CORRUPT when it is no catalog
   */
  public CatalogState read() throws IOException {
    if (!exists()) {
      return new CatalogState();
    }
    Ownership.requireOurs(file);
    ByteBuffer whole = ByteBuffer.wrap(Files.readAllBytes(file));
    if (whole.remaining() < HEADER || whole.getInt() != MAGIC) {
      throw corrupt("it does not begin as one");
    }
    int crc = whole.getInt();
    if (whole.getInt() != whole.remaining() || crc32c(whole.slice()) != crc) {
      throw corrupt("its CRC is wrong");
    }
    byte[] bytes = new byte[whole.remaining()];
    whole.get(bytes);
    try {
      return CatalogState.decode(bytes);
    } catch (IOException e) {
      throw corrupt(e.getMessage());
    }
  }

  private TakoException corrupt(String why) {
    return new TakoException(Status.CORRUPT, file + " is no catalog (" + why + ")");
  }

  /** Writes all values, durably. */
  public void write(CatalogState state) throws IOException {
    byte[] bytes = state.encode();
    ByteBuffer whole = ByteBuffer.allocate(HEADER + bytes.length);
    whole.putInt(MAGIC).putInt(crc32c(ByteBuffer.wrap(bytes))).putInt(bytes.length).put(bytes);
    Files.deleteIfExists(part); // of a process that died
    steps.done("removed the former part");
    try (FileChannel channel = open(part)) {
      steps.done("made the part");
      whole.flip();
      while (whole.hasRemaining()) {
        channel.write(whole);
      }
      steps.done("wrote the part");
      channel.force(true);
    }
    steps.done("made the part durable");
    Files.move(part, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    steps.done("moved the part");
    try (FileChannel directory = FileChannel.open(file.getParent(), StandardOpenOption.READ)) {
      directory.force(true);
    }
    steps.done("made the move durable");
  }

  /** Opens a file to write, and makes it, for this user alone, when it is not there. */
  static FileChannel open(Path path) throws IOException {
    return FileChannel.open(
        path,
        Set.of(StandardOpenOption.WRITE, StandardOpenOption.CREATE),
        PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
  }

  private static int crc32c(ByteBuffer bytes) {
    CRC32C crc = new CRC32C();
    crc.update(bytes);
    return (int) crc.getValue();
  }
}
