package io.takofs.transport.tcp;

import java.util.concurrent.TimeUnit;

/**
 * Settings of a {@link TcpTransport}.
 *
 * @param eventLoops threads that serve the connections; each connection stays with one
 * @param operationTimeoutNs how long a peer may leave an operation, or everything, unanswered
 * @param receiverTimeoutNs how long a write with immediate waits for a receive to be posted
 * @param loopsSpin whether event loops look for more for a moment before they sleep: for servers;
 *     at a client the callers do, and would be in each other's way
 */
public record TcpSettings(
    int eventLoops, long operationTimeoutNs, long receiverTimeoutNs, boolean loopsSpin) {
  /** A client's: one thread for all connections, 30 s, 1 s. */
  public static final TcpSettings DEFAULT =
      new TcpSettings(1, TimeUnit.SECONDS.toNanos(30), TimeUnit.SECONDS.toNanos(1), false);

  /** A server's, with so many event loops. */
  public static TcpSettings server(int eventLoops) {
    return new TcpSettings(eventLoops, DEFAULT.operationTimeoutNs, DEFAULT.receiverTimeoutNs, true);
  }
}
