package io.takofs.rpc;

import java.util.List;

/**
 * The service that an {@link RpcServer} offers over connections of one kind.
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
}
