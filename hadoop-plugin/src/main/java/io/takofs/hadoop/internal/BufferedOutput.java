package io.takofs.hadoop.internal;

import io.takofs.base.TakoException;
import io.takofs.client.TakoOutputStream;
import io.takofs.layout.Layout;
import java.util.Objects;

/**
 * A file open for writing, with small writes gathered: passing on each record of a few bytes would
 * cost more than storing the bytes. A flush of the buffer ends at a granule boundary of the file,
 * so that checksums cover whole granules. Writes as large as the buffer bypass it.
 *
 * <p>Thread rule: one thread at a time.
 */
final class BufferedOutput {
  private static final int CAPACITY = 4 * Layout.GRANULE_SIZE;

  private final TakoOutputStream out;

  /** Made with the first small write. */
  private byte[] buffer;

  private int gathered;

  /** Bytes to gather before the buffer is passed on, at most. */
  private int limit;

  BufferedOutput(TakoOutputStream out) {
    this.out = out;
  }

  void write(int value) throws TakoException {
    makeBuffer();
    buffer[gathered++] = (byte) value;
    passOnFull();
  }

  void write(byte[] bytes, int offset, int length) throws TakoException {
    if (length >= CAPACITY) {
      passOn();
      out.write(bytes, offset, length);
      return;
    }
    Objects.checkFromIndexSize(offset, length, bytes.length); // not after a part of it
    makeBuffer();
    int head = Math.min(length, limit - gathered);
    gather(bytes, offset, head);
    if (head < length) {
      makeBuffer();
      gather(bytes, offset + head, length - head);
    }
  }

  private void gather(byte[] bytes, int offset, int length) throws TakoException {
    System.arraycopy(bytes, offset, buffer, gathered, length);
    gathered += length;
    passOnFull();
  }

  private void makeBuffer() throws TakoException {
    if (buffer == null) {
      buffer = new byte[CAPACITY];
    }
    if (gathered == 0) {
      out.write(buffer, 0, 0); // throws the error that ended the stream
      limit = CAPACITY - (int) (out.getPos() % Layout.GRANULE_SIZE);
    }
  }

  private void passOnFull() throws TakoException {
    if (gathered == limit) {
      passOn();
    }
  }

  private void passOn() throws TakoException {
    int length = gathered;
    gathered = 0;
    if (length > 0) {
      out.write(buffer, 0, length);
    }
  }

  /** As {@link TakoOutputStream#hflush}. */
  void hflush() throws TakoException {
    passOn();
    out.hflush();
  }

  /** As {@link TakoOutputStream#hsync}. */
  void hsync() throws TakoException {
    passOn();
    out.hsync();
  }

  /** As {@link TakoOutputStream#close}, even if the gathered bytes could not be written. */
  void close() throws TakoException {
    try (out) {
      passOn();
    }
  }
}
