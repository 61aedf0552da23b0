package io.takofs.transport.verbs;

import java.io.IOException;

/**
 * A protection domain ({@code ibv_pd}).
 *
 * <p>Thread rule: any thread.
 */
final class VerbsDomain implements AutoCloseable {
  /** The {@code ibv_pd}. */
  long pointer() {
    throw new UnsupportedOperationException();
  }

  /**
   * Registers memory that stays its owner's, and mapped until the registration is closed.
   *
   * @param length at most 1 GiB
   * @param accessFlags of {@code ibv_access_flags}, windows ({@code IBV_ACCESS_MW_BIND}) included
   * @throws IOException saying how much was asked for and which limit stands against it
   */
  VerbsRegistration register(long address, long length, int accessFlags) throws IOException {
    throw new UnsupportedOperationException();
  }

  /** Needs its registrations and queue pairs closed. */
  @Override
  public void close() {
    throw new UnsupportedOperationException();
  }
}
