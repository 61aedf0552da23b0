package io.takofs.transport.tcp;

import java.io.IOException;
import java.nio.channels.SocketChannel;

/**
 * Receiver of the bytes of one connection: first its handshake, then its queue pair.
 *
 * <p>Thread rule: the connection's event loop.
 */
interface TcpInput {
  /** Reads once from the socket; returns the bytes read, 0 if there are none, -1 at the end. */
  int read(SocketChannel socket) throws IOException;

  /** Whether another read may find more. */
  boolean wantsMore();

  /** No more is read for now. */
  void readComplete();

  /** The connection is gone. */
  void closed(String reason);
}
