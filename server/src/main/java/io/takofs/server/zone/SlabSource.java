package io.takofs.server.zone;

import io.takofs.base.TakoException;
import java.nio.ByteBuffer;

/**
 * The arenas of another server, to be read.
 *
 * <p>Thread rule: one thread.
 */
public interface SlabSource extends AutoCloseable {
  /**
   * The bytes that were read of an extent.
   *
   * @param data its bytes
   * @param checksums its checksum entries, of the full granules
   */
  record Bytes(ByteBuffer data, ByteBuffer checksums) {}

  /**
   * An extent that will be read soon: the source begins with it, if there is memory for it and that
   * saves time.
   *
   * @param offset as of {@link #read}
   * @param length as of {@link #read}
   */
  default void prefetch(int arena, int offset, int length) {}

  /** What was prefetched and not read is not wanted: other bytes may be there when it is read. */
  default void forget() {}

  /**
   * Reads an extent and its checksum entries, as they are; waits for them, for some seconds at
   * most.
   *
   * @param offset of the extent in the arena
   * @param length of its bytes, at least 1
   * @return what was read; valid until the next read
   * @throws TakoException when it cannot be read; the source is of no use any more
   */
  Bytes read(int arena, int offset, int length) throws TakoException;

  @Override
  void close();
}
