package io.takofs.server;

import io.takofs.base.TakoException;
import io.takofs.proto.Status;
import java.io.IOException;
import java.util.Locale;

/** Advice to a user whose server cannot listen at an address. */
final class ListenFailure {
  private ListenFailure() {}

  /**
   * @param cause says what failed and where
   * @param foreign advice when no such address is on this machine
   * @param taken advice else
   */
  static TakoException of(IOException cause, String foreign, String taken) {
    String message = String.valueOf(cause.getMessage());
    return new TakoException(
        Status.UNAVAILABLE, message + ": " + (isForeign(message) ? foreign : taken), cause);
  }

  private static boolean isForeign(String message) {
    String text = message.toLowerCase(Locale.ROOT);
    return text.contains("cannot assign requested address") || text.contains("unknown host");
  }
}
