package io.takofs.client.internal.file;

import io.takofs.base.TakoException;

/** The leader gave no session, which says nothing of the server whose data was wanted. */
final class NoSessionException extends TakoException {
  private static final long serialVersionUID = 1;

  NoSessionException(TakoException cause) {
    super(cause.status(), cause.getMessage(), cause);
  }
}
