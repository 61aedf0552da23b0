package io.takofs.base;

import io.takofs.proto.Status;
import java.io.IOException;

/**
 * An operation that could not be done. Callers branch on {@link #status()}, never on the text; the
 * text names what was wrong, where, and what to do.
 */
public class TakoException extends IOException {
  private final Status status;

  public TakoException(Status status, String message) {
    super(message);
    this.status = status;
  }

  public TakoException(Status status, String message, Throwable cause) {
    super(message, cause);
    this.status = status;
  }

  /** The error status that callers act on. */
  public Status status() {
    return status;
  }
}
