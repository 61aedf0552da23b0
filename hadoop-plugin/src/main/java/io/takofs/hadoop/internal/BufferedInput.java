package io.takofs.hadoop.internal;

import io.takofs.client.TakoInputStream;
import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * The sequential side of a file open for reading, with small reads gathered: each read of the
 * client verifies whole granules, which a caller that reads four bytes at a time must not pay for
 * each time. Reads as large as the buffer go past it.
 *
 * <p>Thread rule: any thread.
 */
final class BufferedInput {
  private final TakoInputStream in;
  private final int capacity;
  private byte[] buffer;
  private int next;
  private int end;

  /**
   * @param capacity bytes to gather; the buffer is made when the first small read comes
   */
  BufferedInput(TakoInputStream in, int capacity) {
    this.in = in;
    this.capacity = capacity;
  }

  /** The next byte, -1 at the end of the file. */
  synchronized int read() throws IOException {
    if (next == end && !fill()) {
      return -1;
    }
    return buffer[next++] & 0xff;
  }

  /** Bytes read into {@code target}, at least one if there is room; -1 at the end of the file. */
  synchronized int read(byte[] target, int offset, int length) throws IOException {
    if (length == 0) {
      return 0;
    }
    if (next == end) {
      if (length >= capacity) {
        forget();
        return in.read(target, offset, length);
      }
      if (!fill()) {
        return -1;
      }
    }
    int count = Math.min(length, end - next);
    System.arraycopy(buffer, next, target, offset, count);
    next += count;
    return count;
  }

  /**
   * Bytes read into the rest of {@code target}, at least one if there is room; -1 at the end of the
   * file.
   */
  synchronized int read(ByteBuffer target) throws IOException {
    if (!target.hasRemaining()) {
      return 0;
    }
    if (next == end) {
      if (target.remaining() >= capacity) {
        forget();
        return in.read(target);
      }
      if (!fill()) {
        return -1;
      }
    }
    int count = Math.min(target.remaining(), end - next);
    target.put(buffer, next, count);
    next += count;
    return count;
  }

  /** Empties the buffer: a read that bypasses it moves the stream away from its bytes. */
  private void forget() {
    next = 0;
    end = 0;
  }

  /** Up to the next multiple of the capacity in the file, so that no granule is read twice. */
  private boolean fill() throws IOException {
    if (buffer == null) {
      buffer = new byte[capacity];
    }
    forget();
    end = Math.max(0, in.read(buffer, 0, capacity - (int) (in.getPos() % capacity)));
    return end > 0;
  }

  synchronized void seek(long position) throws IOException {
    long start = in.getPos() - end;
    if (position >= start && position <= start + end) {
      next = (int) (position - start);
    } else {
      in.seek(position);
      forget();
    }
  }

  synchronized long getPos() {
    return in.getPos() - (end - next);
  }

  synchronized long skip(long count) throws IOException {
    long position = getPos();
    long target = Math.min(position + Math.max(0, count), Math.max(position, in.length()));
    seek(target);
    return target - position;
  }

  synchronized int available() throws IOException {
    return (int) Math.min(Integer.MAX_VALUE, (long) in.available() + (end - next));
  }

  /** As {@link TakoInputStream#borrow}. */
  synchronized ByteBuffer borrow(int lengthMax, boolean verify) throws IOException {
    long position = getPos();
    forget();
    in.seek(position);
    return in.borrow(lengthMax, verify);
  }

  /** As {@link TakoInputStream#giveBack}. */
  boolean giveBack(ByteBuffer bytes) {
    return in.giveBack(bytes);
  }

  /** As {@link TakoInputStream#setReadAhead}; bytes already in the buffer are read first. */
  synchronized void setReadAhead(long bytes) throws IOException {
    in.setReadAhead(bytes);
  }

  /** Releases the memory; the position stays. */
  synchronized void unbuffer() throws IOException {
    long position = getPos();
    forget();
    buffer = null;
    in.seek(position);
    in.unbuffer();
  }
}
