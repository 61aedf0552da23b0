package io.takofs.system;

import java.nio.charset.StandardCharsets;
import java.util.zip.CRC32C;

/** Content that follows from path and position, so that whoever checks needs no copy of it. */
final class Pattern {
  private Pattern() {}

  /** Fills {@code target} with the bytes of {@code path} from {@code position}. */
  static void fill(String path, long position, byte[] target, int length) {
    long seed = seed(path);
    for (int i = 0; i < length; i++) {
      target[i] = at(seed, position + i);
    }
  }

  /** Fails unless {@code content} is the beginning of {@code path}'s bytes. */
  static void check(String path, byte[] content) {
    long seed = seed(path);
    for (int i = 0; i < content.length; i++) {
      if (content[i] != at(seed, i)) {
        throw new AssertionError(
            path + ", " + content.length + " bytes, is wrong at byte " + i + ": " + content[i]);
      }
    }
  }

  private static long seed(String path) {
    CRC32C crc = new CRC32C();
    crc.update(path.getBytes(StandardCharsets.UTF_8));
    return crc.getValue();
  }

  private static byte at(long seed, long position) {
    long mixed = (seed + position) * 0x9e3779b97f4a7c15L;
    return (byte) (mixed >>> 56 ^ position);
  }
}
