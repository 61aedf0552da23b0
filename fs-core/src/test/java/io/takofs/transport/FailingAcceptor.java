package io.takofs.transport;

import java.util.concurrent.atomic.AtomicInteger;

/**
 * Accepts with what no connection can be made of, and fails itself when one is made; counts what it
 * has to keep for connections.
 *
 * <p>Thread rule: any thread.
 */
public final class FailingAcceptor implements ConnectionAcceptor {
  private final QueuePairConfig config;
  private final AtomicInteger open = new AtomicInteger();

  /**
   * @param config what it accepts with; null to fail instead
   */
  public FailingAcceptor(QueuePairConfig config) {
    this.config = config;
  }

  /** Connections that were accepted and are neither aborted nor disconnected. */
  public int open() {
    return open.get();
  }

  @Override
  public Accept onConnect(String remoteName, byte[] privateData) {
    if (config == null) {
      throw new IllegalStateException("fails to accept");
    }
    open.incrementAndGet();
    return new Accept(config, new byte[0]);
  }

  @Override
  public void onConnected(QueuePair queuePair, Accept accept) {
    throw new IllegalStateException("fails to take the connection");
  }

  @Override
  public void onAborted(Accept accept) {
    open.decrementAndGet();
  }

  @Override
  public void onDisconnected(QueuePair queuePair) {
    open.decrementAndGet();
  }
}
