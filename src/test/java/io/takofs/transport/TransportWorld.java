package io.takofs.transport;

/**
 * Two transports that can reach each other, and their time. Made for one test and closed after it.
 */
public interface TransportWorld extends AutoCloseable {
  /** The side that listens. */
  Transport server();

  /** The side that connects; another object than {@link #server}. */
  Transport client();

  /** Passed to {@link Transport#listen}; asks for a free endpoint. */
  String listenEndpoint();

  /** A well-formed endpoint where nobody listens. */
  String unreachableEndpoint();

  /** Whether peers on one host can look at each other's memory ({@link QueuePair#map}). */
  boolean mapsMemory();

  /** Whether completions can be taken by a callback ({@link CompletionQueue#onEvent}). */
  boolean hasCallbacks();

  /** Whether each side can be used by a thread of its own; a simulation has one for both. */
  default boolean hasThreads() {
    return true;
  }

  /** The time that waiting is bounded with; virtual in a simulation. */
  default long nanoTime() {
    return System.nanoTime();
  }

  /** Closes both transports. */
  @Override
  default void close() {
    client().close();
    server().close();
  }
}
