package io.takofs.transport;

/**
 * Queue on which operations report that they are done. Bounded; sized at creation for every receive
 * and every signalled send that may be outstanding on its queue pairs, so that it never overflows.
 *
 * <p>Thread rule: poll and await by one thread at a time; wakeup by any.
 */
public interface CompletionQueue extends AutoCloseable {
  /** Delivers up to {@code max} completions; returns how many. Never blocks. */
  int poll(CompletionHandler handler, int max);

  /**
   * Waits until a completion may be there, {@link #wakeup} is called or {@code timeoutNs} have
   * passed: spins for some tens of microseconds, then sleeps. Spurious returns are allowed.
   */
  void await(long timeoutNs);

  /** Ends a present or the next {@link #await}. */
  void wakeup();

  /**
   * Asks for {@code callback} to run on the transport's own thread each time completions were
   * added. Returns false when the transport has no thread of its own; then the caller must await
   * and poll.
   */
  boolean onEvent(Runnable callback);

  @Override
  void close();
}
