package io.takofs.log;

import java.nio.ByteBuffer;

/**
 * Makes written bytes survive what the memory alone does not.
 *
 * <p>Thread rule: the log owner's thread.
 */
@FunctionalInterface
public interface Persistence {
  /** Memory that outlives the process by itself (tmpfs, hugetlbfs): nothing to do. */
  Persistence NONE = (memory, offset, length) -> {};

  /** Returns when {@code length} bytes of {@code memory} from {@code offset} are persistent. */
  void persist(ByteBuffer memory, int offset, int length);
}
