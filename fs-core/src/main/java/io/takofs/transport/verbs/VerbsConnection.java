package io.takofs.transport.verbs;

import java.io.IOException;
import java.net.InetSocketAddress;

/**
 * A connection of the connection manager ({@code rdma_cm_id}) and its queue pair.
 *
 * <p>Thread rule: any thread; one at a time.
 */
final class VerbsConnection implements AutoCloseable {
  /**
   * Creates the reliable-connected queue pair, every send signalled only when asked.
   *
   * @return the {@code ibv_qp}
   */
  long createQueuePair(
      VerbsDomain domain, VerbsCompletions sends, VerbsCompletions receives, QueuePairCaps caps)
      throws IOException {
    throw new UnsupportedOperationException();
  }

  /** The {@code ibv_qp}; 0 before it was created. */
  long queuePair() {
    throw new UnsupportedOperationException();
  }

  /** {@code qp_num}, as completions name it. */
  int queuePairNumber() {
    throw new UnsupportedOperationException();
  }

  InetSocketAddress remoteAddress() {
    throw new UnsupportedOperationException();
  }

  InetSocketAddress localAddress() {
    throw new UnsupportedOperationException();
  }

  /**
   * Connects the queue pair; blocks until the peer answered.
   *
   * @param privateData at most {@link VerbsControl#REQUEST_DATA_MAX} bytes
   * @return the peer's, followed by zeros: the wire does not carry its length
   * @throws VerbsRejectedException if the peer refused, with what it said
   * @throws IOException naming the peer and what failed: nobody listens there, no answer in time
   */
  byte[] connect(byte[] privateData, long timeoutNs) throws IOException {
    throw new UnsupportedOperationException();
  }

  /**
   * Answers a request. Sends may be posted after {@link ConnectionEvents#onEstablished}, or when
   * the first receive completed, which may come before it.
   *
   * @param privateData at most {@link VerbsControl#ACCEPT_DATA_MAX} bytes
   */
  void accept(byte[] privateData) throws IOException {
    throw new UnsupportedOperationException();
  }

  /**
   * Refuses a request; the connection still has to be closed.
   *
   * @param privateData at most {@link VerbsControl#REJECT_DATA_MAX} bytes
   */
  void reject(byte[] privateData) throws IOException {
    throw new UnsupportedOperationException();
  }

  /**
   * Moves the queue pair to the error state, so that every post is flushed, and tells the peer.
   * Harmless when there is nothing to disconnect.
   */
  void disconnect() {
    throw new UnsupportedOperationException();
  }

  /**
   * Disconnects, destroys the queue pair and then the connection. What it posted completes no more:
   * drain its flushes after {@link #disconnect} and before this.
   */
  @Override
  public void close() {
    throw new UnsupportedOperationException();
  }
}
