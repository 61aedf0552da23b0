package io.takofs.transport;

import io.takofs.base.TakoException;
import io.takofs.proto.Status;

/**
 * Why a connection was refused, as text that carries a status to the peer: {@code STATUS: reason}.
 *
 * <p>Thread rule: any thread.
 */
public final class Refusal {
  private static final String SEPARATOR = ": ";

  private Refusal() {}

  /** The message of the refusing side. */
  public static String text(Exception reason) {
    Status status = reason instanceof TakoException known ? known.status() : Status.UNAVAILABLE;
    String message = reason.getMessage() == null ? reason.toString() : reason.getMessage();
    return status.name() + SEPARATOR + message;
  }

  /**
   * The exception of the refused side.
   *
   * @param endpoint that refused
   * @param text as received: trusted to be nothing but text
   */
  public static TakoException exception(String endpoint, String text) {
    int end = text.indexOf(SEPARATOR);
    if (end > 0) {
      for (Status status : Status.values()) {
        if (status != Status.OK
            && status != Status.UNRECOGNIZED
            && status.name().contentEquals(text.substring(0, end))) {
          return of(status, endpoint, text.substring(end + SEPARATOR.length()));
        }
      }
    }
    return of(Status.UNAVAILABLE, endpoint, text);
  }

  private static TakoException of(Status status, String endpoint, String reason) {
    return new TakoException(status, endpoint + " refused: " + reason);
  }
}
