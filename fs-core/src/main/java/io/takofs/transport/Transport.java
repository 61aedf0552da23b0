package io.takofs.transport;

import java.io.IOException;

/**
 * One way to reach other processes: a device, in verbs' words.
 *
 * <p>Thread rule: any thread.
 */
public interface Transport extends AutoCloseable {
  /** {@code shm}, {@code tcp}, {@code sim} or {@code verbs}. */
  String name();

  /**
   * Whether a peer can be given the right to write part of a region for a while ({@link
   * MemoryWindow}); where not, the region's own access is all there is.
   */
  default boolean hasMemoryWindows() {
    return false;
  }

  /**
   * Whether {@link QueuePair#map} gives the peer's memory itself, as long as the peer leaves it
   * there; where not, it never does.
   */
  default boolean mapsMemory() {
    return false;
  }

  ProtectionDomain allocateProtectionDomain();

  CompletionQueue createCompletionQueue(int capacity);

  /**
   * Accepts connections at {@code endpoint} (its form is the transport's own; a port of 0 or an
   * empty name asks for a free one).
   */
  Listener listen(String endpoint, ConnectionAcceptor acceptor) throws IOException;

  /**
   * Connects to a listener.
   *
   * @param endpoint as the listener's {@link Listener#endpoint} says
   * @param privateData at most 56 bytes for the acceptor
   * @param timeoutNs until the connection must stand
   * @throws IOException naming the endpoint and what is wrong with it
   */
  QueuePair connect(String endpoint, QueuePairConfig config, byte[] privateData, long timeoutNs)
      throws IOException;

  /** Counts of the operations over this transport. */
  TransportCounters counters();

  /** Closes everything made from it. */
  @Override
  void close();

  /** A place where connections arrive. */
  interface Listener extends AutoCloseable {
    /** The endpoint that a peer passes to {@link Transport#connect}. */
    String endpoint();

    @Override
    void close();
  }
}
