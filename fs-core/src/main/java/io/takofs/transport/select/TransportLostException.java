package io.takofs.transport.select;

import io.takofs.base.TakoException;
import io.takofs.proto.Status;

/**
 * A server answers, but not over the transport that a session was opened over. That may pass; when
 * it does not, the session is lost and another one can be opened over what is left.
 */
public final class TransportLostException extends TakoException {
  private static final long serialVersionUID = 1;

  TransportLostException(String message) {
    super(Status.UNAVAILABLE, message);
  }
}
