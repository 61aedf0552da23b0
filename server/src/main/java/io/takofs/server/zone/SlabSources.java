package io.takofs.server.zone;

import io.takofs.base.TakoException;

/** Connects to other servers' data zones. */
@FunctionalInterface
public interface SlabSources {
  /**
   * Connects to the data zone of {@code serverId}; waits for that, for some seconds at most.
   *
   * @throws TakoException when it cannot be reached
   */
  SlabSource open(int serverId) throws TakoException;
}
