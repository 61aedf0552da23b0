package io.takofs.system;

import java.nio.ByteBuffer;
import java.util.Arrays;

/** Bytes that say which content they are, and all of which follow from that and their number. */
final class RecordedContent {
  /** A content has this many bytes at least: its number, and how many there are. */
  static final int LENGTH_MIN = 2 * Long.BYTES;

  private RecordedContent() {}

  static byte[] of(long content, int length) {
    byte[] bytes = new byte[length];
    Pattern.fill(Long.toString(content), 0, bytes, length);
    ByteBuffer.wrap(bytes).putLong(content).putLong(length);
    return bytes;
  }

  /** The content that a file has, 0 for one without bytes; fails when any byte is wrong. */
  static long in(String path, byte[] bytes) {
    if (bytes.length == 0) {
      return 0;
    }
    if (bytes.length < LENGTH_MIN) {
      throw new AssertionError(path + " has " + bytes.length + " bytes, which nobody wrote");
    }
    long content = ByteBuffer.wrap(bytes).getLong();
    int difference = Arrays.mismatch(bytes, of(content, bytes.length));
    if (difference >= 0) {
      throw new AssertionError(
          "%s, %d bytes of content %d, is wrong from byte %d"
              .formatted(path, bytes.length, content, difference));
    }
    return content;
  }
}
