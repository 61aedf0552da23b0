package io.takofs.memory;

import java.nio.ByteBuffer;

/** Words of zeros in records, which say that nothing was ever written there. */
public final class Zeros {
  private Zeros() {}

  /**
   * Writes zeros to the {@code length} bytes, a multiple of 8, of {@code memory} from {@code at}.
   */
  public static void write(ByteBuffer memory, int at, int length) {
    for (int i = at; i < at + length; i += Long.BYTES) {
      memory.putLong(i, 0);
    }
  }

  /** Whether the {@code length} bytes, a multiple of 8, of {@code memory} from {@code at} are 0. */
  public static boolean are(ByteBuffer memory, int at, int length) {
    for (int i = at; i < at + length; i += Long.BYTES) {
      if (memory.getLong(i) != 0) {
        return false;
      }
    }
    return true;
  }
}
