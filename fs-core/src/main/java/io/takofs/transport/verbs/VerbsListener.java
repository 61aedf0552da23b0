package io.takofs.transport.verbs;

import java.net.InetSocketAddress;

/**
 * A place where connection requests arrive.
 *
 * <p>Thread rule: any thread.
 */
final class VerbsListener implements AutoCloseable {
  /** Where it listens, with the port it was given. */
  InetSocketAddress address() {
    throw new UnsupportedOperationException();
  }

  /** No request arrives once this returned; connections that it brought live on. */
  @Override
  public void close() {
    throw new UnsupportedOperationException();
  }
}
