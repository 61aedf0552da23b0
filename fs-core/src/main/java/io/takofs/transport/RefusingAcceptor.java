package io.takofs.transport;

import java.io.IOException;

/**
 * Lets nobody in.
 *
 * <p>Thread rule: any thread.
 */
public final class RefusingAcceptor implements ConnectionAcceptor {
  private final String reason;

  /**
   * @param reason what those who connect are told
   */
  public RefusingAcceptor(String reason) {
    this.reason = reason;
  }

  @Override
  public Accept onConnect(String remoteName, byte[] privateData) throws IOException {
    throw new IOException(reason);
  }
}
