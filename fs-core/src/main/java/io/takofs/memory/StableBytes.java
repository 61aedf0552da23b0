package io.takofs.memory;

import io.takofs.layout.Layout;
import java.nio.ByteBuffer;

/**
 * Bytes that do not change while they are checksummed and stored, in several places maybe. An
 * array's owner may change it at any time, and pinning it would keep the garbage collector from
 * running: so its bytes are copied first, a batch of granules at a time, which stays in the caches.
 *
 * <p>Thread rule: any thread; each keeps memory for one copy, 64 KiB, from its first use on. One
 * that makes a copy before it has closed the former gets other memory for it.
 */
public final class StableBytes implements AutoCloseable {
  private static final int SIZE = Granules.BATCH * Layout.GRANULE_SIZE;

  /** Memory of the thread's that no copy is in; or null. */
  private static final ThreadLocal<ByteBuffer> SPARE = new ThreadLocal<>();

  private final ByteBuffer bytes;
  private ByteBuffer memory; // null when there is no copy

  private StableBytes(ByteBuffer bytes, ByteBuffer memory) {
    this.bytes = bytes;
    this.memory = memory;
  }

  /**
   * Returns {@code length} bytes of {@code source} from its position on, at most those of {@link
   * Granules#BATCH} granules: {@code source} itself where it is direct, whose owner must leave it
   * alone, or else a copy. The source's position stays.
   *
   * @throws IndexOutOfBoundsException when they are more, or {@code source} has not so many
   */
  public static StableBytes of(ByteBuffer source, int length) {
    if (source.isDirect()) {
      return new StableBytes(source.slice(source.position(), length), null);
    }
    ByteBuffer spare = SPARE.get();
    ByteBuffer memory = spare == null ? ByteBuffer.allocateDirect(SIZE) : spare;
    ByteBuffer copy = memory.slice(0, length).put(0, source, source.position(), length);
    SPARE.set(null);
    return new StableBytes(copy, memory);
  }

  /** The bytes, from position 0 to the limit; they may change after {@link #close}. */
  public ByteBuffer bytes() {
    return bytes.duplicate();
  }

  @Override
  public void close() {
    if (memory != null) {
      SPARE.set(memory);
      memory = null;
    }
  }
}
