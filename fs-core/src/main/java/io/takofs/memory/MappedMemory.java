package io.takofs.memory;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * A file mapped read-write into this process, or a part of one.
 *
 * <p>Thread rule: any thread; close only when nothing uses its buffers any more.
 */
public final class MappedMemory implements AutoCloseable {
  private final Path path;
  private final long fileOffset;
  private final long length;
  private final MappedByteBuffer[] pieces;

  private static final long PIECE = 1L << 30;

  private MappedMemory(Path path, long fileOffset, long length, MappedByteBuffer[] pieces) {
    this.path = path;
    this.fileOffset = fileOffset;
    this.length = length;
    this.pieces = pieces;
  }

  /**
   * Maps {@code length} bytes from {@code fileOffset} of an existing file and touches every page.
   */
  public static MappedMemory map(Path path, long fileOffset, long length) throws IOException {
    try (FileChannel channel =
        FileChannel.open(path, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
      int count = (int) ((length + PIECE - 1) / PIECE);
      MappedByteBuffer[] pieces = new MappedByteBuffer[count];
      for (int i = 0; i < count; i++) {
        long from = i * PIECE;
        pieces[i] =
            channel.map(
                FileChannel.MapMode.READ_WRITE, fileOffset + from, Math.min(PIECE, length - from));
        pieces[i].load();
      }
      return new MappedMemory(path, fileOffset, length, pieces);
    }
  }

  /** The mapped file. */
  public Path path() {
    return path;
  }

  /** Where in the file the mapping begins. */
  public long fileOffset() {
    return fileOffset;
  }

  public long length() {
    return length;
  }

  /** A little-endian view of {@code size} bytes from {@code offset}, within one GiB piece. */
  public ByteBuffer slice(long offset, int size) {
    int piece = (int) (offset / PIECE);
    return pieces[piece].slice((int) (offset % PIECE), size).order(ByteOrder.LITTLE_ENDIAN);
  }

  @Override
  public void close() {
    // Replaced by the native mapping, which can be undone at once.
  }
}
