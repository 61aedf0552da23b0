package io.takofs.client.internal.session;

/**
 * One session as the server knows it. A client gets another one when the server has forgotten the
 * first; leases and all else that began under the first ended with it. Compared by identity.
 *
 * <p>Thread rule: any thread.
 */
public final class SessionIdentity {
  private final long clientId;
  private final CallNumbers numbers;

  SessionIdentity(long clientId, CallNumbers numbers) {
    this.clientId = clientId;
    this.numbers = numbers;
  }

  /** The server's name for the session. */
  long clientId() {
    return clientId;
  }

  /** Of its calls. */
  CallNumbers numbers() {
    return numbers;
  }
}
