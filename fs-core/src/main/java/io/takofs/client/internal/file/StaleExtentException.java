package io.takofs.client.internal.file;

/** Bytes that were read are not those that were committed: the extent list is old, or they rot. */
final class StaleExtentException extends Exception {
  private static final long serialVersionUID = 1;

  private final int server;

  StaleExtentException(ExtentView extent, String what) {
    this(extent + ": " + what, 0);
  }

  private StaleExtentException(String message, int server) {
    super(message, null, false, false);
    this.server = server;
  }

  /** The same, with the server that gave the bytes. */
  StaleExtentException of(int giver) {
    return new StaleExtentException(getMessage(), giver);
  }

  /** The server that gave the bytes; 0 when it is not known, or the session's. */
  int server() {
    return server;
  }
}
