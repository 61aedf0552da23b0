package io.takofs.sim;

import io.takofs.memory.MappedMemory;

/** Is told what clients store one-sided in the arenas of servers, piece by piece as it lands. */
@FunctionalInterface
public interface SimStores {
  /**
   * Something between {@code offset} and {@code offset + length} has other bytes now.
   *
   * @param client that stored, as it said when it connected
   */
  void stored(MappedMemory arena, int offset, int length, long client);
}
