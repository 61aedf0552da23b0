package io.takofs.client.internal.file;

import io.takofs.base.TakoException;
import io.takofs.proto.Status;

/**
 * File data is reached in another way than when a stream began: the stream's buffers are of no use.
 */
final class TransportChangedException extends TakoException {
  private static final long serialVersionUID = 1;

  TransportChangedException(String message) {
    super(Status.DISCONNECTED, message);
  }
}
