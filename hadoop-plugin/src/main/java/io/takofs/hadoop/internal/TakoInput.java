package io.takofs.hadoop.internal;

import io.takofs.base.TakoException;
import io.takofs.client.TakoInputStream;
import io.takofs.layout.Layout;
import java.io.EOFException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.IntFunction;
import org.apache.hadoop.fs.ByteBufferPositionedReadable;
import org.apache.hadoop.fs.ByteBufferReadable;
import org.apache.hadoop.fs.CanSetDropBehind;
import org.apache.hadoop.fs.CanSetReadahead;
import org.apache.hadoop.fs.CanUnbuffer;
import org.apache.hadoop.fs.FSExceptionMessages;
import org.apache.hadoop.fs.FSInputStream;
import org.apache.hadoop.fs.FileRange;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.HasEnhancedByteBufferAccess;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.ReadOption;
import org.apache.hadoop.fs.StreamCapabilities;
import org.apache.hadoop.fs.statistics.IOStatistics;
import org.apache.hadoop.fs.statistics.IOStatisticsSource;
import org.apache.hadoop.fs.statistics.StreamStatisticNames;
import org.apache.hadoop.fs.statistics.impl.IOStatisticsBinding;
import org.apache.hadoop.fs.statistics.impl.IOStatisticsStore;
import org.apache.hadoop.io.ByteBufferPool;

/**
 * A file open for reading, as Hadoop reads it.
 *
 * <p>Thread rule: any thread, as the client's stream.
 */
final class TakoInput extends FSInputStream
    implements ByteBufferReadable,
        ByteBufferPositionedReadable,
        HasEnhancedByteBufferAccess,
        CanUnbuffer,
        CanSetReadahead,
        CanSetDropBehind,
        StreamCapabilities,
        IOStatisticsSource {
  /** Hadoop's names; older ones have no constants for them. */
  private static final String VECTORED_OPERATIONS = "stream_read_vectored_operations";

  private static final String VECTORED_RANGES = "stream_read_vectored_incoming_ranges";
  private static final String VECTORED = "in:readvectored";

  private final TakoInputStream in;
  private final BufferedInput sequential;
  private final Path path;
  private final FileSystem.Statistics statistics;
  private final BorrowedBuffers borrowed;
  private final IOStatisticsStore ioStatistics =
      IOStatisticsBinding.iostatisticsStore()
          .withCounters(
              StreamStatisticNames.STREAM_READ_BYTES,
              StreamStatisticNames.STREAM_READ_OPERATIONS,
              StreamStatisticNames.STREAM_READ_SEEK_OPERATIONS,
              StreamStatisticNames.STREAM_READ_UNBUFFERED,
              VECTORED_OPERATIONS,
              VECTORED_RANGES)
          .build();
  private final AtomicLong bytesRead =
      ioStatistics.getCounterReference(StreamStatisticNames.STREAM_READ_BYTES);
  private final AtomicLong reads =
      ioStatistics.getCounterReference(StreamStatisticNames.STREAM_READ_OPERATIONS);
  private final AtomicLong seeks =
      ioStatistics.getCounterReference(StreamStatisticNames.STREAM_READ_SEEK_OPERATIONS);
  private volatile boolean closed;

  TakoInput(TakoInputStream in, int bufferSize, Path path, FileSystem.Statistics statistics) {
    this.in = in;
    this.sequential = new BufferedInput(in, bufferSize);
    this.path = path;
    this.statistics = statistics;
    this.borrowed = new BorrowedBuffers(path, sequential);
  }

  @FunctionalInterface
  private interface Action<T> {
    T run() throws IOException;
  }

  private <T> T translated(Action<T> action) throws IOException {
    checkOpen();
    try {
      return action.run();
    } catch (TakoException e) {
      throw ErrorTranslation.translate(e, path.toString());
    }
  }

  /** A read that says how many bytes it got; -1 at the end of the file. */
  private int counted(Action<Integer> read) throws IOException {
    int count = translated(read);
    count(count);
    return count;
  }

  private void count(long bytes) {
    reads.incrementAndGet();
    if (bytes > 0) {
      bytesRead.addAndGet(bytes);
      statistics.incrementBytesRead(bytes);
    }
  }

  @Override
  public int read() throws IOException {
    checkOpen();
    int value;
    try {
      value = sequential.read();
    } catch (TakoException e) {
      throw ErrorTranslation.translate(e, path.toString());
    }
    if (value >= 0) {
      bytesRead.incrementAndGet();
      statistics.incrementBytesRead(1);
    }
    return value;
  }

  @Override
  public int read(byte[] buffer, int offset, int length) throws IOException {
    return counted(() -> sequential.read(buffer, offset, length));
  }

  @Override
  public int read(ByteBuffer buffer) throws IOException {
    return counted(() -> sequential.read(buffer));
  }

  @Override
  public int read(long position, byte[] buffer, int offset, int length) throws IOException {
    checkOpen();
    validatePositionedReadArgs(position, buffer, offset, length);
    return length == 0 ? 0 : counted(() -> in.read(position, buffer, offset, length));
  }

  @Override
  public int read(long position, ByteBuffer buffer) throws IOException {
    checkOpen();
    checkNotNegative(position);
    return buffer.hasRemaining() ? counted(() -> in.read(position, buffer)) : 0;
  }

  @Override
  public void readFully(long position, ByteBuffer buffer) throws IOException {
    long next = position;
    while (buffer.hasRemaining()) {
      int count = read(next, buffer);
      if (count < 0) {
        throw new EOFException(FSExceptionMessages.EOF_IN_READ_FULLY);
      }
      next += count;
    }
  }

  // ---- several ranges at once; Hadoop has these since 3.3.5

  /** Smaller gaps save nothing, because whole granules are transferred. */
  @Override
  public int minSeekForVectorReads() {
    return Layout.GRANULE_SIZE;
  }

  /** The largest transfer. */
  @Override
  public int maxReadSizeForVectorReads() {
    return Layout.EXTENT_SIZE_MAX;
  }

  @Override
  public void readVectored(List<? extends FileRange> ranges, IntFunction<ByteBuffer> allocate)
      throws IOException {
    readVectored(ranges, allocate, buffer -> {});
  }

  @Override
  public void readVectored(
      List<? extends FileRange> ranges,
      IntFunction<ByteBuffer> allocate,
      Consumer<ByteBuffer> release)
      throws IOException {
    checkOpen();
    long bytes =
        VectoredReads.read(
            wanted ->
                translated(
                    () -> {
                      in.read(wanted);
                      return null;
                    }),
            ranges,
            allocate,
            release);
    ioStatistics.incrementCounter(VECTORED_OPERATIONS);
    ioStatistics.incrementCounter(VECTORED_RANGES, ranges.size());
    count(bytes);
  }

  // ---- buffers that need not be the caller's

  @Override
  public ByteBuffer read(ByteBufferPool pool, int maxLength, EnumSet<ReadOption> options)
      throws IOException {
    ByteBuffer buffer =
        translated(
            () -> borrowed.read(pool, maxLength, !options.contains(ReadOption.SKIP_CHECKSUMS)));
    count(buffer == null ? -1 : buffer.remaining());
    return buffer;
  }

  @Override
  public void releaseBuffer(ByteBuffer buffer) {
    borrowed.release(buffer);
  }

  // ---- the position

  @Override
  public void seek(long position) throws IOException {
    checkNotNegative(position);
    seeks.incrementAndGet();
    translated(
        () -> {
          sequential.seek(position);
          return null;
        });
  }

  @Override
  public long getPos() {
    return sequential.getPos();
  }

  /** There is one server: no other has the bytes. */
  @Override
  public boolean seekToNewSource(long position) {
    return false;
  }

  @Override
  public long skip(long count) throws IOException {
    return translated(() -> sequential.skip(count));
  }

  @Override
  public int available() throws IOException {
    return translated(sequential::available);
  }

  @Override
  public boolean markSupported() {
    return false;
  }

  // ---- advice

  /** Null selects the configured read-ahead. */
  @Override
  public void setReadahead(Long bytes) throws IOException {
    if (bytes != null && bytes < 0) {
      throw new IllegalArgumentException(path + ": cannot read " + bytes + " bytes ahead");
    }
    translated(
        () -> {
          sequential.setReadAhead(bytes == null ? -1 : bytes);
          return null;
        });
  }

  /** No effect: the client does not cache, and the server's data is in memory. */
  @Override
  public void setDropBehind(Boolean drop) throws IOException {
    checkOpen();
  }

  @Override
  public void unbuffer() {
    ioStatistics.incrementCounter(StreamStatisticNames.STREAM_READ_UNBUFFERED);
    if (!closed) {
      try {
        sequential.unbuffer();
      } catch (IOException e) {
        throw new UncheckedIOException(path + ": cannot go back to what was read", e);
      }
    }
  }

  @Override
  public void close() throws IOException {
    if (!closed) {
      closed = true;
      in.close();
    }
  }

  @Override
  public boolean hasCapability(String capability) {
    return switch (capability.toLowerCase(Locale.ROOT)) {
      case StreamCapabilities.READBYTEBUFFER,
          StreamCapabilities.PREADBYTEBUFFER,
          StreamCapabilities.UNBUFFER,
          StreamCapabilities.READAHEAD,
          StreamCapabilities.DROPBEHIND,
          VECTORED,
          StreamCapabilities.IOSTATISTICS ->
          true;
      default -> false;
    };
  }

  @Override
  public IOStatistics getIOStatistics() {
    return ioStatistics;
  }

  private void checkOpen() throws IOException {
    if (closed) {
      throw new IOException(path + ": " + FSExceptionMessages.STREAM_IS_CLOSED);
    }
  }

  private void checkNotNegative(long position) throws EOFException {
    if (position < 0) {
      throw new EOFException(path + ": " + FSExceptionMessages.NEGATIVE_SEEK + ": " + position);
    }
  }
}
