package io.takofs.hadoop.internal;

import io.takofs.base.TakoException;
import io.takofs.client.TakoOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.channels.ClosedChannelException;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.apache.hadoop.fs.CanSetDropBehind;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.StreamCapabilities;
import org.apache.hadoop.fs.Syncable;
import org.apache.hadoop.fs.statistics.IOStatistics;
import org.apache.hadoop.fs.statistics.IOStatisticsSource;
import org.apache.hadoop.fs.statistics.StoreStatisticNames;
import org.apache.hadoop.fs.statistics.StreamStatisticNames;
import org.apache.hadoop.fs.statistics.impl.IOStatisticsBinding;
import org.apache.hadoop.fs.statistics.impl.IOStatisticsStore;

/**
 * A file open for writing, as Hadoop writes it. Bytes are visible to others after {@link #hflush},
 * {@link #hsync} or {@link #close}; {@link #flush} promises nothing and costs nothing.
 *
 * <p>Thread rule: any thread; each write is one piece.
 */
final class TakoOutput extends OutputStream
    implements Syncable, CanSetDropBehind, StreamCapabilities, IOStatisticsSource {
  /** The capability that applications query; Hadoop's own constant is deprecated. */
  private static final String HFLUSH = "hflush";

  private final BufferedOutput out;
  private final Path path;
  private final IOStatisticsStore ioStatistics =
      IOStatisticsBinding.iostatisticsStore()
          .withCounters(
              StreamStatisticNames.STREAM_WRITE_BYTES,
              StoreStatisticNames.OP_HFLUSH,
              StoreStatisticNames.OP_HSYNC)
          .build();
  private final AtomicLong bytesWritten =
      ioStatistics.getCounterReference(StreamStatisticNames.STREAM_WRITE_BYTES);
  private final Consumer<TakoOutput> onClose;
  private boolean closed;

  /** A stream that calls {@code onClose} when it is closed. */
  TakoOutput(TakoOutputStream out, Path path, Consumer<TakoOutput> onClose) {
    this.out = new BufferedOutput(out);
    this.path = path;
    this.onClose = onClose;
  }

  @FunctionalInterface
  private interface Action {
    void run() throws IOException;
  }

  private void translated(Action action) throws IOException {
    try {
      action.run();
    } catch (TakoException e) {
      throw ErrorTranslation.translate(e, path.toString());
    }
  }

  @Override
  public synchronized void write(int value) throws IOException {
    checkOpen();
    translated(() -> out.write(value));
    bytesWritten.incrementAndGet();
  }

  @Override
  public synchronized void write(byte[] buffer, int offset, int length) throws IOException {
    checkOpen();
    translated(() -> out.write(buffer, offset, length));
    bytesWritten.addAndGet(length);
  }

  @Override
  public void flush() {
    // Nothing to do: applications flush often, and use hflush to make bytes visible to others.
  }

  @Override
  public synchronized void hflush() throws IOException {
    checkOpen();
    translated(out::hflush);
    ioStatistics.incrementCounter(StoreStatisticNames.OP_HFLUSH);
  }

  @Override
  public synchronized void hsync() throws IOException {
    checkOpen();
    translated(out::hsync);
    ioStatistics.incrementCounter(StoreStatisticNames.OP_HSYNC);
  }

  /** No effect: written data is in memory and nowhere else. */
  @Override
  public synchronized void setDropBehind(Boolean drop) throws IOException {
    checkOpen();
  }

  /** A close that failed is not tried again by the next one. */
  @Override
  public synchronized void close() throws IOException {
    if (!closed) {
      closed = true;
      onClose.accept(this);
      translated(out::close);
    }
  }

  @Override
  public boolean hasCapability(String capability) {
    return switch (capability.toLowerCase(Locale.ROOT)) {
      case HFLUSH,
          StreamCapabilities.HSYNC,
          StreamCapabilities.DROPBEHIND,
          StreamCapabilities.IOSTATISTICS ->
          true;
      default -> false;
    };
  }

  @Override
  public IOStatistics getIOStatistics() {
    return ioStatistics;
  }

  private void checkOpen() throws ClosedChannelException {
    if (closed) {
      throw new ClosedChannelException();
    }
  }
}
