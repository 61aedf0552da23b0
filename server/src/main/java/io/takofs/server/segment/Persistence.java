package io.takofs.server.segment;

import java.io.IOException;

/**
 * Makes written bytes survive what the memory alone does not.
 *
 * <p>Thread rule: one thread at a time, that which has the log.
 */
@FunctionalInterface
public interface Persistence {
  /** Memory that outlives the process by itself (tmpfs, hugetlbfs): nothing to do. */
  Persistence NONE = (slot, offset, length) -> {};

  /** Returns when {@code length} bytes of the zone's {@code slot} from {@code offset} persist. */
  void persist(int slot, int offset, int length) throws IOException;
}
