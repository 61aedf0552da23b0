package io.takofs.client.internal.session;

import io.takofs.client.internal.zone.MemoryBudget;
import io.takofs.transport.TransportCounters;
import java.io.IOException;
import java.util.Map;

/** Makes connections to the one server a client talks to. */
public interface Connector extends AutoCloseable {
  /**
   * Connects.
   *
   * @param clientId session the connection is for, 0 for a new one
   * @param deadlineNs of the client's clock
   */
  ServerConnection connect(long clientId, long deadlineNs) throws IOException;

  /** The server, {@code host:port}. */
  String server();

  /**
   * Counters of each transport that this side used, by the transport's name; empty after {@link
   * #close}.
   */
  Map<String, TransportCounters> counters();

  /** Of this side's buffers for file data. */
  MemoryBudget budget();

  /** Releases, if no stream has a buffer, all that the next connection can make anew. */
  void rest();

  @Override
  void close();
}
