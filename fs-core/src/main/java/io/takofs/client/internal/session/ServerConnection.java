package io.takofs.client.internal.session;

import io.takofs.base.TakoException;
import io.takofs.client.internal.zone.DataZone;
import io.takofs.proto.Reply;
import io.takofs.proto.Request;
import io.takofs.proto.SessionTerms;

/**
 * One connection to the server.
 *
 * <p>Thread rule: any thread.
 */
public interface ServerConnection extends AutoCloseable {
  /**
   * Sends a request and waits for its reply, whatever its status.
   *
   * @param clientId session that calls, 0 before there is one
   * @param sequence number of the call within the session
   * @param deadlineNs of the client's clock
   * @throws TakoException DEADLINE_EXCEEDED or DISCONNECTED: the outcome is unknown
   */
  Reply call(long clientId, long sequence, Request request, long deadlineNs) throws TakoException;

  /** Whether calls may still succeed. */
  boolean isOpen();

  /** The transport of this connection and the reason for its choice; for people. */
  String transportVerdict();

  /**
   * Opens the data zone on a connection beside this one. Closing this closes it, and so does
   * opening it again.
   *
   * @param terms of the session that is open on this connection
   * @param deadlineNs of the client's clock
   */
  DataZone openZone(SessionTerms terms, long deadlineNs) throws TakoException;

  /**
   * Ends this for calls, and opens no data zone any more. One that is open stays so, until its
   * holder closes it.
   */
  void leave();

  @Override
  void close();
}
