package io.takofs.transport.tcp;

import java.util.concurrent.TimeUnit;

/**
 * What a {@link TcpTransport} is made with.
 *
 * @param eventLoops threads that serve the connections; each connection stays with one
 * @param operationTimeoutNs how long a peer may leave an operation, or everything, unanswered
 * @param receiverTimeoutNs how long a write with immediate waits for a receive to be posted
 */
public record TcpSettings(int eventLoops, long operationTimeoutNs, long receiverTimeoutNs) {
  /** One thread for all connections, 30 s, 1 s. */
  public static final TcpSettings DEFAULT =
      new TcpSettings(1, TimeUnit.SECONDS.toNanos(30), TimeUnit.SECONDS.toNanos(1));
}
