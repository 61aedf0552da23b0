package io.takofs.rpc;

import io.takofs.transport.CompletionStatus;
import io.takofs.transport.ProtectionDomain;
import io.takofs.transport.QueuePair;
import io.takofs.transport.Transport;
import java.io.IOException;
import java.util.List;

/**
 * The service that an {@link RpcServer} offers.
 *
 * <p>Thread rule: the server's receiving threads, several at once; none of these may block.
 */
public interface RpcHandler {
  /**
   * Calls that arrived together, those of one connection in order. Every one must be replied to
   * once, now or later.
   */
  void onCalls(List<IncomingCall> calls);

  /** The connection is gone; replies to its calls go nowhere. */
  void onDisconnected(RpcConnection connection);

  /**
   * A client wants a connection to the data zone.
   *
   * @return the domain of the regions that it may address
   * @throws IOException to refuse, naming why
   */
  ProtectionDomain admitDataConnection(Transport transport, long clientId) throws IOException;

  /** Nothing became of a connection to the data zone that was admitted with {@code domain}. */
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
