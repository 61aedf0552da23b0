package io.takofs.transport;

import java.io.IOException;

/**
 * The listening side's part in making a connection. Runs on a thread of the transport and must not
 * block. Only the first must be answered; the others tell of pairs, and do nothing by default.
 */
public interface ConnectionAcceptor {
  /**
   * Someone wants to connect. The queue pair does not exist yet: post receives in {@link
   * #onConnected}, which runs before the peer learns that it is connected.
   *
   * @return what the queue pair is made with, and private data for the peer
   * @throws IOException to refuse; the peer's connect fails with its message
   */
  Accept onConnect(String remoteName, byte[] privateData) throws IOException;

  /**
   * The pair stands; the peer will learn of it when this returns.
   *
   * @param accept what {@link #onConnect} answered for this connection, the same object
   */
  default void onConnected(QueuePair queuePair, Accept accept) {}

  /**
   * The peer vanished between {@link #onConnect} and {@link #onConnected}: the objects made for
   * {@code accept} are not needed.
   */
  default void onAborted(Accept accept) {}

  /**
   * The pair went into ERROR, or its peer closed it or died. Called once, and not when this side
   * closes the pair.
   */
  default void onDisconnected(QueuePair queuePair) {}

  /**
   * The answer to a connection request.
   *
   * @param privateData at most 56 bytes for the peer
   */
  record Accept(QueuePairConfig config, byte[] privateData) {}
}
