package io.takofs.transport.select;

import java.io.IOException;

/** The server that an attempt to connect goes to is gone; the next attempt asks what is there. */
final class ServerGoneException extends IOException {
  private static final long serialVersionUID = 1;

  ServerGoneException(String endpoint) {
    super("the server at " + endpoint + " is gone");
  }
}
