package io.takofs.server.catalog;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.Arrays;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/** HMAC-SHA-256, its first 16 bytes; numbers in messages are little-endian. */
final class Authenticator {
  /** Bytes of an authenticator. */
  static final int SIZE = 16;

  private static final String ALGORITHM = "HmacSHA256";

  private Authenticator() {}

  /** A buffer of {@code length} bytes for a message. */
  static ByteBuffer message(int length) {
    return ByteBuffer.allocate(length).order(ByteOrder.LITTLE_ENDIAN);
  }

  static byte[] of(byte[] key, byte[] message) {
    return Arrays.copyOf(whole(key, message), SIZE);
  }

  /** All 32 bytes, for a key that follows from another one. */
  static byte[] whole(byte[] key, byte[] message) {
    try {
      Mac mac = Mac.getInstance(ALGORITHM);
      mac.init(new SecretKeySpec(key, ALGORITHM));
      return mac.doFinal(message);
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("every Java has " + ALGORITHM, e);
    }
  }

  /** The comparison takes as long whatever the first wrong byte is. */
  static boolean isGood(byte[] key, byte[] message, byte[] authenticator) {
    return MessageDigest.isEqual(of(key, message), authenticator);
  }
}
