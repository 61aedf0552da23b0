package io.takofs.memory;

import io.takofs.base.Invariant;
import io.takofs.base.TakoException;
import io.takofs.base.Undo;
import io.takofs.jni.NativeCore;
import io.takofs.jni.NativeError;
import io.takofs.jni.NativeLibrary;
import io.takofs.proto.Status;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.EnumSet;

/**
 * A file mapped into this process, or a part of one, with every page present unless its maker says
 * otherwise: by the native core where it is available, else by the JDK.
 *
 * <p>Thread rule: any thread. After {@link #close} the buffers handed out before may still be used
 * without a fault, and no longer reach the file (without the native library they do, until they are
 * garbage).
 */
public final class MappedMemory implements AutoCloseable {
  private static final long PIECE = 1L << 30;
  private static final long PAGE = 4096;
  private static final int ZEROES = 1 << 20;

  private final Path path;
  private final long fileOffset;
  private final long length;
  private final ByteBuffer[] pieces;
  private final Mapping mapping; // null without the native library
  private final long address;
  private boolean closed;

  private MappedMemory(
      Path path, long fileOffset, long length, ByteBuffer[] pieces, Mapping mapping) {
    this.path = path;
    this.fileOffset = fileOffset;
    this.length = length;
    this.pieces = pieces;
    this.mapping = mapping;
    this.address = mapping == null ? 0 : mapping.start() + lead(fileOffset);
  }

  /**
   * Maps {@code length} bytes from {@code fileOffset} of an existing file, read-write, and touches
   * every page.
   */
  public static MappedMemory map(Path path, long fileOffset, long length) throws IOException {
    if (!NativeLibrary.isAvailable()) {
      return mapPortably(path, fileOffset, length);
    }
    try (NativeFile file = NativeFile.open(path, NativeCore.OPEN_WRITE)) {
      int flags = NativeCore.MAP_WRITE | NativeCore.MAP_POPULATE | NativeCore.MAP_HUGE;
      return file.map(fileOffset, length, flags);
    }
  }

  /**
   * Makes a file of {@code length} bytes, mode 0600, each one allocated, so that no later access to
   * a mapping of it can fail for want of space.
   *
   * @throws TakoException NO_SPACE naming path and size, with the file removed again;
   *     ALREADY_EXISTS
   */
  public static void allocate(Path path, long length) throws IOException {
    try {
      if (NativeLibrary.isAvailable()) {
        allocateNatively(path, length);
      } else {
        allocatePortably(path, length);
      }
    } catch (FileAlreadyExistsException e) {
      throw new TakoException(Status.ALREADY_EXISTS, "cannot create " + path + ": exists", e);
    } catch (IOException e) {
      throw noSpace(path, length, e);
    }
  }

  /** Makes a file as {@link #allocate} does, and maps it. */
  public static MappedMemory create(Path path, long length) throws IOException {
    try (Undo undo = new Undo()) {
      allocate(path, length);
      undo.add(() -> Files.delete(path));
      MappedMemory memory = map(path, 0, length);
      undo.keep();
      return memory;
    }
  }

  /**
   * Zeroed private memory, with every page {@code present} or none.
   *
   * @throws TakoException UNSUPPORTED without the native library; NO_SPACE
   */
  public static MappedMemory anonymous(long length, boolean present) throws TakoException {
    if (!NativeLibrary.isAvailable()) {
      String cause = NativeLibrary.unavailabilityCause().orElseThrow();
      throw new TakoException(
          Status.UNSUPPORTED, "no anonymous memory without the native library: " + cause);
    }
    int flags = NativeCore.MAP_ANONYMOUS | NativeCore.MAP_WRITE;
    return mapNative(null, -1, 0, length, present ? flags | NativeCore.MAP_POPULATE : flags);
  }

  static MappedMemory mapNative(Path path, int fd, long offset, long length, int flags)
      throws TakoException {
    long lead = lead(offset);
    long mapped =
        NativeError.check(
            NativeCore.map(fd, offset - lead, length + lead, flags),
            "cannot map " + length + " bytes at " + offset + " of " + path);
    boolean synchronous = (mapped & NativeCore.MAP_SYNCHRONOUS) != 0;
    long start = mapped & ~(long) NativeCore.MAP_SYNCHRONOUS;
    Mapping mapping = new Mapping(start, length + lead, synchronous);
    ByteBuffer[] pieces = new ByteBuffer[pieces(length)];
    try {
      for (int i = 0; i < pieces.length; i++) {
        pieces[i] = mapping.view(lead + i * PIECE, (int) Math.min(PIECE, length - i * PIECE));
      }
    } finally {
      mapping.release(); // from here on the views keep it
    }
    return new MappedMemory(path, offset, length, pieces, mapping);
  }

  private static MappedMemory mapPortably(Path path, long fileOffset, long length)
      throws IOException {
    try (FileChannel channel =
        FileChannel.open(path, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
      ByteBuffer[] pieces = new ByteBuffer[pieces(length)];
      for (int i = 0; i < pieces.length; i++) {
        long size = Math.min(PIECE, length - i * PIECE);
        MappedByteBuffer piece =
            channel.map(FileChannel.MapMode.READ_WRITE, fileOffset + i * PIECE, size);
        piece.load();
        pieces[i] = piece;
      }
      return new MappedMemory(path, fileOffset, length, pieces, null);
    }
  }

  /** Bytes that a mapping has before {@code fileOffset}: it begins with a page. */
  private static long lead(long fileOffset) {
    return fileOffset % PAGE;
  }

  private static int pieces(long length) {
    return (int) ((length + PIECE - 1) / PIECE);
  }

  private static void allocateNatively(Path path, long length) throws IOException {
    int flags = NativeCore.OPEN_CREATE | NativeCore.OPEN_WRITE;
    try (NativeFile file = NativeFile.open(path, flags)) {
      try (Undo undo = new Undo()) {
        undo.add(() -> Files.delete(path));
        file.allocate(length);
        undo.keep();
      }
    }
  }

  /** Writes zeroes, the one way in which the JDK can allocate. */
  private static void allocatePortably(Path path, long length) throws IOException {
    EnumSet<StandardOpenOption> options =
        EnumSet.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
    try (FileChannel channel =
        FileChannel.open(
            path,
            options,
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")))) {
      try (Undo undo = new Undo()) {
        undo.add(() -> Files.delete(path));
        ByteBuffer zeroes = ByteBuffer.allocateDirect(ZEROES);
        for (long at = 0; at < length; at += zeroes.position()) {
          zeroes.position(0).limit((int) Math.min(ZEROES, length - at));
          channel.write(zeroes, at);
        }
        undo.keep();
      }
    }
  }

  private static IOException noSpace(Path path, long length, IOException cause) {
    boolean full =
        cause instanceof TakoException e
            ? e.status() == Status.NO_SPACE
            : String.valueOf(cause.getMessage()).contains("No space left");
    if (!full) {
      return cause;
    }
    return new TakoException(
        Status.NO_SPACE,
        "cannot create "
            + path
            + ": its file system has no room for "
            + length
            + " bytes"
            + free(path)
            + "; choose a smaller size or another directory",
        cause);
  }

  private static String free(Path path) {
    try {
      Path parent = path.toAbsolutePath().getParent();
      return " (" + Files.getFileStore(parent).getUsableSpace() + " are free)";
    } catch (IOException e) {
      return "";
    }
  }

  /** The mapped file; null for anonymous memory. */
  public Path path() {
    return path;
  }

  /** Offset of the mapping in the file, bytes. */
  public long fileOffset() {
    return fileOffset;
  }

  public long length() {
    return length;
  }

  /** Address of the first byte in this process; 0 without the native library. */
  public long address() {
    return address;
  }

  /** A little-endian view of {@code size} bytes from {@code offset}, within one GiB piece. */
  public ByteBuffer slice(long offset, int size) {
    Invariant.check(!closed, () -> "use of a closed mapping of " + path);
    int piece = (int) (offset / PIECE);
    return pieces[piece].slice((int) (offset % PIECE), size).order(ByteOrder.LITTLE_ENDIAN);
  }

  /**
   * As {@link #slice}, but made for one: whether somebody can still reach it, or what was made of
   * it, tells nothing of others. Of a mapping by the native core only.
   */
  public ByteBuffer view(long offset, int size) {
    Invariant.check(
        offset >= 0 && size >= 0 && offset + size <= length, () -> "outside of " + path);
    return mapping.view(address - mapping.start() + offset, size);
  }

  /** Whether {@link #persist} makes bytes survive a loss of power: the file is on DAX. */
  public boolean isDurable() {
    return mapping != null && mapping.isSynchronous();
  }

  /**
   * Makes what this process stored in {@code size} bytes from {@code offset} as durable as the file
   * can be: cache lines written back on DAX, pages on a disk, nothing on tmpfs. Within one GiB
   * piece.
   */
  public void persist(long offset, int size) throws IOException {
    ByteBuffer bytes = slice(offset, size); // checks the bounds
    if (mapping == null) {
      MappedByteBuffer piece = (MappedByteBuffer) pieces[(int) (offset / PIECE)];
      piece.force((int) (offset % PIECE), bytes.capacity());
      return;
    }
    NativeError.check(
        NativeCore.persist(address + offset, size, isDurable() ? 1 : 0),
        "cannot persist " + size + " bytes at " + offset + " of " + path);
  }

  @Override
  public synchronized void close() {
    if (!closed) {
      closed = true;
      if (mapping != null) {
        mapping.discard();
      }
    }
  }
}
