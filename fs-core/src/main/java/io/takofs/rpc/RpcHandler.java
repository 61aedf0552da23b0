package io.takofs.rpc;

import io.takofs.transport.QueuePair;
import java.io.IOException;
import java.util.List;

/**
 * What an {@link RpcServer} serves.
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
   * @throws IOException to refuse, naming why
   */
  void checkDataConnection(long clientId) throws IOException;

  /** A connection to the data zone stands; the handler closes it in the end. */
  void onDataConnected(long clientId, QueuePair pair);

  /** The peer of a data connection closed it, or died. */
  void onDataDisconnected(long clientId, QueuePair pair);
}
