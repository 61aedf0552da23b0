package io.takofs.server.slabs;

import io.takofs.base.TakoException;
import io.takofs.proto.LogEntry;
import io.takofs.proto.Reply;

/** The log of the group: whatever is decided about slabs is an entry of it. */
@FunctionalInterface
public interface Entries {
  /**
   * Logs {@code entry} and applies it.
   *
   * @return the reply of the state machine
   * @throws TakoException when the log takes no entry
   */
  Reply execute(LogEntry entry) throws TakoException;
}
