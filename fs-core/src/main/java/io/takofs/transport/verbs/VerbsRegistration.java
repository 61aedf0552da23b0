package io.takofs.transport.verbs;

/**
 * A memory region ({@code ibv_mr}) over memory of someone else.
 *
 * <p>Thread rule: any thread.
 */
final class VerbsRegistration implements AutoCloseable {
  /** The {@code ibv_mr}, which a memory window is bound to. */
  long pointer() {
    throw new UnsupportedOperationException();
  }

  long address() {
    throw new UnsupportedOperationException();
  }

  long length() {
    throw new UnsupportedOperationException();
  }

  int lkey() {
    throw new UnsupportedOperationException();
  }

  int rkey() {
    throw new UnsupportedOperationException();
  }

  /** Needs the windows over it closed. */
  @Override
  public void close() {
    throw new UnsupportedOperationException();
  }
}
