package io.takofs.transport.verbs;

/**
 * A completion queue ({@code ibv_cq}), not polled here.
 *
 * <p>Thread rule: any thread.
 */
final class VerbsCompletions implements AutoCloseable {
  /** The {@code ibv_cq}. */
  long pointer() {
    throw new UnsupportedOperationException();
  }

  /** Entries asked for; the device may have given more. */
  int capacity() {
    throw new UnsupportedOperationException();
  }

  /** Needs its queue pairs closed and its channel's events acknowledged. */
  @Override
  public void close() {
    throw new UnsupportedOperationException();
  }
}
