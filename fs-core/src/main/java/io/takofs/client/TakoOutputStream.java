package io.takofs.client;

import io.takofs.base.TakoException;
import io.takofs.client.internal.file.FileWriter;
import io.takofs.client.internal.session.LeaseKeeper;
import io.takofs.proto.Status;
import java.io.OutputStream;
import java.nio.ByteBuffer;

/**
 * Writes a file, from its beginning or after its end. Bytes become visible to others, all at once,
 * by {@link #hflush}, {@link #hsync} and {@link #close}; very long files also at times between.
 *
 * <p>A failure is final: later calls fail too, with the first failure as their cause, and closing
 * leaves the file at what was flushed, soon after. {@code LEASE_LOST} says that another client, or
 * the server, has taken the file over.
 *
 * <p>Thread rule: any thread; concurrent calls are executed one after the other.
 */
public final class TakoOutputStream extends OutputStream {
  private final FileWriter writer;
  private final String path;
  private final LeaseKeeper.Lease lease;
  private final byte[] one = new byte[1];
  private TakoException failure;
  private boolean closed;

  TakoOutputStream(FileWriter writer, String path, LeaseKeeper.Lease lease) {
    this.writer = writer;
    this.path = path;
    this.lease = lease;
  }

  @Override
  public synchronized void write(int b) throws TakoException {
    one[0] = (byte) b;
    write(one, 0, 1);
  }

  @Override
  public void write(byte[] bytes) throws TakoException {
    write(bytes, 0, bytes.length);
  }

  @Override
  public void write(byte[] bytes, int offset, int length) throws TakoException {
    write(ByteBuffer.wrap(bytes, offset, length));
  }

  /** Writes the remaining bytes of {@code source}, which must not change meanwhile. */
  public synchronized void write(ByteBuffer source) throws TakoException {
    execute(() -> writer.write(source));
  }

  /** Does nothing: bytes are on their way already, and only {@link #hflush} is a promise. */
  @Override
  public void flush() {}

  /** Makes everything written visible to others and safe from a crash of the server process. */
  public synchronized void hflush() throws TakoException {
    execute(writer::flush);
  }

  /** As {@link #hflush}, and as persistent as the pool's memory is. */
  public void hsync() throws TakoException {
    hflush();
  }

  /** Position in the file of the next byte. */
  public synchronized long getPos() {
    return writer.position();
  }

  /**
   * Flushes, closes the file and releases its lease. The second and later calls do nothing. After a
   * failure the file is closed at what was flushed and the failure is thrown once more.
   */
  @Override
  public synchronized void close() throws TakoException {
    if (closed) {
      return;
    }
    try {
      execute(writer::close);
      lease.released();
    } catch (TakoException e) {
      if (!LeaseKeeper.isUnreachable(e.status())) {
        abortAfter(e);
      }
      throw e;
    } finally {
      end();
    }
  }

  /** Closes the file at what was flushed, giving up what was not. */
  public synchronized void abort() throws TakoException {
    if (closed) {
      return;
    }
    try {
      writer.abort();
      lease.released();
    } finally {
      end();
    }
  }

  private void abortAfter(TakoException failure) {
    try {
      writer.abort();
      lease.released();
    } catch (TakoException e) {
      failure.addSuppressed(e);
    }
  }

  private void end() {
    closed = true;
    writer.releaseBuffers();
    lease.abandon(); // unless it was released
  }

  /**
   * An operation of the stream. The first failure ends the stream: every later operation fails too.
   */
  @FunctionalInterface
  private interface Action {
    void run() throws TakoException;
  }

  private void execute(Action action) throws TakoException {
    if (closed) {
      throw new TakoException(Status.INVALID_ARGUMENT, "write " + path + ": the stream is closed");
    }
    if (failure != null) {
      throw new TakoException(
          failure.status(),
          "an earlier failure ended the stream: " + failure.getMessage(),
          failure);
    }
    boolean done = false;
    try {
      action.run();
      done = true;
    } catch (TakoException e) {
      failure = e;
      throw e;
    } finally {
      if (!done && failure == null) {
        failure = new TakoException(Status.INTERNAL, "write " + path + ": stopped half-way");
      }
    }
  }
}
