package io.takofs.transport.verbs;

import com.ibm.disni.util.MemBuf;
import com.ibm.disni.util.MemoryAllocation;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;

/**
 * A few bytes that native code can read or fill, from DiSNI's pool of such blocks.
 *
 * <p>Thread rule: one thread, for the length of one call.
 */
final class NativeBlock implements AutoCloseable {
  private final MemBuf block;

  NativeBlock(int size) {
    block = MemoryAllocation.getInstance().allocate(size);
    block.getBuffer().clear();
  }

  /** A block that holds {@code content}. */
  static NativeBlock of(byte[] content) {
    NativeBlock block = new NativeBlock(Math.max(1, content.length));
    block.block.getBuffer().put(0, content);
    return block;
  }

  long address() {
    return block.address();
  }

  /** Its bytes, little-endian as every layout, from position 0. */
  ByteBuffer bytes() {
    return block.getBuffer().duplicate().clear().order(ByteOrder.LITTLE_ENDIAN);
  }

  /** The zero-terminated text of at most {@code length} bytes at {@code offset}. */
  String text(int offset, int length) {
    byte[] text = new byte[length];
    bytes().get(offset, text);
    int end = 0;
    while (end < length && text[end] != 0) {
      end++;
    }
    return new String(text, 0, end, StandardCharsets.UTF_8);
  }

  @Override
  public void close() {
    block.free();
  }
}
