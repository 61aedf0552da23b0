package io.takofs.client;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.Random;

/** Byte arrays of tests: random ones, and comparison that says where they differ. */
public final class Bytes {
  private Bytes() {}

  /** {@code length} bytes that follow from {@code seed}. */
  public static byte[] random(int length, long seed) {
    byte[] bytes = new byte[length];
    new Random(seed).nextBytes(bytes);
    return bytes;
  }

  /** Fails unless both are equal, naming the first difference. */
  public static void assertEqual(byte[] actual, byte[] expected) {
    assertThat(actual.length).describedAs("length").isEqualTo(expected.length);
    assertThat(Arrays.mismatch(actual, expected)).describedAs("first difference").isEqualTo(-1);
  }
}
