package io.takofs.client;

import java.io.IOException;

/** Makes connections to the one server a client talks to. */
interface Connector extends AutoCloseable {
  /**
   * Connects.
   *
   * @param clientId session the connection is for, 0 for a new one
   * @param deadlineNs of the client's clock
   */
  ServerConnection connect(long clientId, long deadlineNs) throws IOException;

  /** The server, {@code host:port}. */
  String server();

  @Override
  void close();
}
