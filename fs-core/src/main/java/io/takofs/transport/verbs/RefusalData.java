package io.takofs.transport.verbs;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.nio.ByteBuffer;
import java.nio.CharBuffer;

/** A refusal's text as the private data of a rejection. */
final class RefusalData {
  private RefusalData() {}

  /** As many whole characters of {@code text} as fit. */
  static byte[] encode(String text) {
    ByteBuffer bytes = ByteBuffer.allocate(VerbsControl.REJECT_DATA_MAX);
    UTF_8.newEncoder().encode(CharBuffer.wrap(text), bytes, true);
    byte[] encoded = new byte[bytes.position()];
    bytes.flip().get(encoded);
    return encoded;
  }

  static String decode(byte[] privateData) {
    return new String(privateData, UTF_8);
  }
}
