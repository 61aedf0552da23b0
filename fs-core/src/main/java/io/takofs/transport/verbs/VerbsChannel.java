package io.takofs.transport.verbs;

/**
 * A completion channel ({@code ibv_comp_channel}).
 *
 * <p>Thread rule: any thread.
 */
final class VerbsChannel implements AutoCloseable {
  /** The {@code ibv_comp_channel}. */
  long pointer() {
    throw new UnsupportedOperationException();
  }

  /** Its file descriptor, non-blocking: poll it together with others. */
  int fileDescriptor() {
    throw new UnsupportedOperationException();
  }

  /** Needs its completion queues closed. */
  @Override
  public void close() {
    throw new UnsupportedOperationException();
  }
}
