package io.takofs.transport.verbs;

/**
 * Events of connections. All come on the event thread of {@link VerbsControl}, one at a time;
 * nothing may block. Every method may call any method of the connection it is given but {@link
 * VerbsConnection#connect}.
 */
interface ConnectionEvents {
  /**
   * Someone wants to connect: create its queue pair, post receives and {@link
   * VerbsConnection#accept} it, or {@link VerbsConnection#reject} it; at once or later, from any
   * thread.
   *
   * @param privateData as sent
   */
  void onRequest(VerbsConnection connection, byte[] privateData);

  /** An accepted connection stands. */
  void onEstablished(VerbsConnection connection);

  /**
   * A connection ended, or an accepted one never came to stand: the peer closed it, died or cannot
   * be reached, or the device went. Its queue pair is in the error state already and flushes.
   * Called once at most for each connection; never before it was accepted or connected, and not
   * when this side disconnects or closes it, unless the call is under way just then.
   */
  void onDisconnected(VerbsConnection connection, String reason);
}
