package io.takofs.transport;

import java.nio.ByteBuffer;

/**
 * Registered memory: at most {@link io.takofs.layout.Layout#ARENA_SIZE} bytes with a local and a
 * remote key.
 */
public interface MemoryRegion extends AutoCloseable {
  /** The memory, little-endian, position 0, limit its length. Each call returns a new view. */
  ByteBuffer buffer();

  /** Address of its first byte, as peers name it. */
  long address();

  int length();

  int lkey();

  int rkey();

  Access access();

  /** Deregisters; operations that name it afterwards fail. Memory the region allocated is freed. */
  @Override
  void close();
}
