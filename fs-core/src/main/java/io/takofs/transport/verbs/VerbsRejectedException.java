package io.takofs.transport.verbs;

import java.io.IOException;

/** A peer refused a connection by its own will. */
final class VerbsRejectedException extends IOException {
  private static final long serialVersionUID = 1;

  private final byte[] privateData;

  VerbsRejectedException(String message, byte[] privateData) {
    super(message);
    this.privateData = privateData.clone();
  }

  /** The reason that the peer gave, as text. */
  byte[] privateData() {
    return privateData.clone();
  }
}
