package io.takofs.rpc;

import io.takofs.transport.CompletionStatus;
import io.takofs.transport.ProtectionDomain;
import io.takofs.transport.QueuePair;
import io.takofs.transport.Transport;
import java.io.IOException;

/**
 * The owner of the connections to the data zone that an {@link RpcServer} lets in.
 *
 * <p>Thread rule: the server's receiving threads, several at once; none of these may block.
 */
public interface DataHandler {
  /**
   * A client wants a connection to the data zone.
   *
   * @return the domain of the regions that it may address
   * @throws IOException to refuse, naming why
   */
  ProtectionDomain admitDataConnection(Transport transport, long clientId) throws IOException;

  /** A connection to the data zone that was admitted with {@code domain} was not made. */
  void onDataAborted(Transport transport, ProtectionDomain domain);

  /**
   * A connection to the data zone stands; the handler closes it in the end.
   *
   * @param client what the client said of itself, with the address of a word of its memory that
   *     this side may read, if there is one
   * @param domain that it was admitted with
   */
  void onDataConnected(
      Transport transport, ConnectionInfo client, QueuePair pair, ProtectionDomain domain);

  /** An operation that the handler posted to a connection to the data zone is done. */
  void onDataCompletion(QueuePair pair, long workRequestId, CompletionStatus status);

  /** The peer of a data connection closed it, or died. */
  void onDataDisconnected(long clientId, QueuePair pair);
}
