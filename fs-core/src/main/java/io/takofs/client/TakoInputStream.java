package io.takofs.client;

import io.takofs.base.TakoException;
import io.takofs.client.OpenOptions.ReadPattern;
import io.takofs.client.internal.file.FileReader;
import io.takofs.client.internal.file.Lender;
import io.takofs.client.internal.file.ReadAhead;
import io.takofs.proto.Status;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Reads a file. All returned bytes are verified against their checksum; bytes that cannot be
 * verified fail with {@code CORRUPT}. A file that is being written grows under the reader with each
 * flush of its writer. A file that was deleted stays readable for a short time at most and then
 * fails.
 *
 * <p>Thread rule: any thread; calls that use the position are executed one after the other,
 * positioned reads side by side. {@link #close} and {@link #giveBack} wait for nobody. The holds of
 * a stream that was never closed are released when it is garbage.
 */
public final class TakoInputStream extends InputStream {
  private final FileReader reader;
  private final ReadPattern pattern;
  private final Lender lender;

  /** Held by who uses the position, who may wait for the server. */
  private final ReentrantLock turn = new ReentrantLock();

  private final byte[] one = new byte[1];
  private long position;
  private long aheadBytes = -1;
  private ReadAhead ahead;
  private boolean reading;
  private volatile boolean closed;

  TakoInputStream(FileReader reader, ReadPattern pattern) {
    this.reader = reader;
    this.lender = new Lender(reader);
    this.pattern = pattern;
  }

  /** Id of the file, as {@link PathStatus#id}. */
  public long fileId() {
    return reader.id();
  }

  /** Version of the file as last seen, as {@link PathStatus#version}. */
  public long fileVersion() {
    return reader.version();
  }

  /** Ends what began with {@code turn.lock()}. */
  private void endTurn() {
    turn.unlock();
    if (closed) {
      tryRelease();
    }
  }

  @Override
  public int read() throws TakoException {
    turn.lock();
    try {
      return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
    } finally {
      endTurn();
    }
  }

  @Override
  public int read(byte[] target) throws TakoException {
    return read(target, 0, target.length);
  }

  @Override
  public int read(byte[] target, int offset, int length) throws TakoException {
    return read(ByteBuffer.wrap(target, offset, length));
  }

  /**
   * Reads into the remaining space of {@code target}: as much as there is, up to the end of file.
   *
   * @return bytes read; -1 at the end of file, 0 when {@code target} is full
   */
  public int read(ByteBuffer target) throws TakoException {
    turn.lock();
    try {
      checkOpen();
      if (!reading) {
        reading = true;
        ahead =
            pattern == ReadPattern.RANDOM
                ? null
                : reader.readAhead(pattern == ReadPattern.SEQUENTIAL, aheadBytes);
      }
      int count = reader.read(position, target, ahead);
      position += Math.max(count, 0);
      return count;
    } finally {
      endTurn();
    }
  }

  /** Reads from {@code position}, leaving the stream's own; -1 at or after the end of file. */
  public int read(long position, byte[] target, int offset, int length) throws TakoException {
    return read(position, ByteBuffer.wrap(target, offset, length));
  }

  /** Reads from {@code position}, leaving the stream's own; -1 at or after the end of file. */
  public int read(long position, ByteBuffer target) throws TakoException {
    checkOpen();
    checkPosition(position);
    return reader.read(position, target, null);
  }

  private void checkPosition(long position) throws TakoException {
    if (position < 0) {
      throw new TakoException(
          Status.INVALID_ARGUMENT, "read " + reader.path() + ": negative position " + position);
    }
  }

  /**
   * Reads several ranges, leaving the stream's own position. Over tcp and verbs they are asked for
   * together, so that many take hardly longer than one. A target keeps the space that the file ends
   * before.
   *
   * @throws TakoException when one range cannot be read; of the others, those are there whose
   *     targets are full
   */
  public void read(List<ReadRange> ranges) throws TakoException {
    checkOpen();
    long[] positions = new long[ranges.size()];
    ByteBuffer[] targets = new ByteBuffer[positions.length];
    int count = 0;
    for (ReadRange range : ranges) {
      checkPosition(range.position());
      positions[count] = range.position();
      targets[count++] = range.target();
    }
    reader.read(positions, targets);
  }

  /**
   * Reads all of {@code length} bytes from {@code position}, leaving the stream's own.
   *
   * @throws EOFException when the file ends before
   */
  public void readFully(long position, byte[] target, int offset, int length) throws IOException {
    ByteBuffer space = ByteBuffer.wrap(target, offset, length);
    read(position, space);
    if (space.hasRemaining()) {
      throw new EOFException(
          String.format(
              "read %s: wanted %d bytes at %d, the file ends at %d",
              reader.path(), length, position, reader.length()));
    }
  }

  /**
   * Moves the position.
   *
   * @throws EOFException when {@code target} is negative or after the end of file
   */
  public void seek(long target) throws IOException {
    turn.lock();
    try {
      checkOpen();
      if (target < 0 || (target > reader.length() && target > reader.currentLength())) {
        throw new EOFException(
            String.format(
                "seek %s: %d is outside the file of %d bytes",
                reader.path(), target, reader.length()));
      }
      position = target;
    } finally {
      endTurn();
    }
  }

  /** Position in the file of the next byte. */
  public long getPos() {
    turn.lock();
    try {
      return position;
    } finally {
      endTurn();
    }
  }

  /** Committed length as last seen, bytes. */
  public long length() {
    return reader.length();
  }

  @Override
  public long skip(long count) throws TakoException {
    turn.lock();
    try {
      checkOpen();
      long skipped = Math.max(0, Math.min(count, reader.length() - position));
      position += skipped;
      return skipped;
    } finally {
      endTurn();
    }
  }

  /** Bytes between the position and the length as last seen, {@code Integer.MAX_VALUE} at most. */
  @Override
  public int available() throws TakoException {
    checkOpen();
    return (int) Math.max(0, Math.min(Integer.MAX_VALUE, reader.length() - getPos()));
  }

  /**
   * The next bytes of the file where they lie in the server's memory, without a copy: over shared
   * memory, when this process may open the pool's file. They stay what they are until the buffer is
   * given back, whatever becomes of the file, the connection and the server; the server cannot use
   * their space again before. A buffer that is not given back is held until neither it, or a part
   * of it, nor the stream can be reached.
   *
   * @param lengthMax bytes wanted at most; there may be fewer before the end of file
   * @param verify whether to check them against their checksums
   * @return a read-only buffer for {@link #giveBack}; null, with the position where it was, when
   *     there are none to lend: at the end of file, in a small file, over another transport, and
   *     when very much is lent already. Then {@link #read(ByteBuffer)} says more
   */
  public ByteBuffer borrow(int lengthMax, boolean verify) throws TakoException {
    turn.lock();
    try {
      checkOpen();
      ByteBuffer bytes = lender.lend(position, lengthMax, verify);
      if (bytes != null) {
        position += bytes.remaining();
      }
      return bytes;
    } finally {
      endTurn();
    }
  }

  /**
   * Gives back what {@link #borrow} gave; nobody may use it any more. Also after {@link #close}.
   *
   * @return false when it was not lent, or given back before
   */
  public boolean giveBack(ByteBuffer bytes) {
    return lender.takeBack(bytes);
  }

  /**
   * Sets how much may be fetched ahead, over transports that gain by it.
   *
   * @param bytes 64 MiB at most; 0 for nothing, negative for what is configured
   */
  public void setReadAhead(long bytes) throws TakoException {
    turn.lock();
    try {
      checkOpen();
      release();
      aheadBytes = bytes;
      reading = false;
    } finally {
      endTurn();
    }
  }

  /** Releases buffers and what was read ahead; the stream stays open. */
  public void unbuffer() {
    turn.lock();
    try {
      release();
    } finally {
      endTurn();
    }
  }

  private void release() {
    lender.release();
    if (ahead != null) {
      ahead.drop();
    }
  }

  /** Does not wait for who has the turn: a stream that is closed is released at its end. */
  @Override
  public void close() {
    closed = true;
    tryRelease();
  }

  private void tryRelease() {
    if (turn.tryLock()) {
      try {
        release();
      } finally {
        turn.unlock();
      }
    }
  }

  private void checkOpen() throws TakoException {
    if (closed) {
      throw new TakoException(
          Status.INVALID_ARGUMENT, "read " + reader.path() + ": the stream is closed");
    }
  }
}
