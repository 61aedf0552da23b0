package io.takofs.rpc;

import io.takofs.transport.ProtectionDomain;
import io.takofs.transport.QueuePair;
import io.takofs.transport.Transport;
import java.io.IOException;

/**
 * The owner of the connections over which other members of a group reach this one's log.
 *
 * <p>Thread rule: the server's receiving threads, several at once; none of these may block.
 */
public interface LogHandler {
  /**
   * Another server wants to read or write the log.
   *
   * @param peer what it says of itself: its term, its grant, and that it is a server
   * @return the domain of the memory that it may address
   * @throws IOException to refuse, naming why
   */
  ProtectionDomain admitLogConnection(Transport transport, ConnectionInfo peer) throws IOException;

  /** A connection that was admitted stands; the handler closes it in the end. */
  void onLogConnected(QueuePair pair, ConnectionInfo peer);

  /** The peer of a connection closed it, or died. */
  void onLogDisconnected(QueuePair pair);
}
