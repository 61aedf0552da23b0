package io.takofs.server.member;

import io.takofs.transport.CompletionQueue;
import io.takofs.transport.QueuePair;

/**
 * A connection over which pages of another member are read into the page zone of this one.
 *
 * @param via the transport, and this member's zone there
 * @param queue where the reads complete, and nothing else
 */
record PagesLink(PageExport via, CompletionQueue queue, QueuePair pair) implements AutoCloseable {
  /** When this returns nothing is written to the zone any more. */
  @Override
  public void close() {
    pair.close();
    queue.close();
  }
}
