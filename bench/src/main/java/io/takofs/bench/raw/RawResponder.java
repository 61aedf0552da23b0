package io.takofs.bench.raw;

import io.takofs.transport.verbs.VerbsTransport;
import java.io.IOException;
import java.util.Optional;

/** The process that a {@link RawMain} measures against: asleep unless it is needed. */
final class RawResponder {
  /** Immediate: answer with an immediate. */
  static final int ECHO = 0;

  private RawResponder() {}

  /** Serves until the connection ends. */
  public static void main(String[] args) throws IOException {
    try (Side side =
        new Side(VerbsTransport.create(Optional.empty()), RawLine.BULK, RawLine.DEPTH)) {
      side.connect(args[0]);
      for (int command = side.awaitImmediate(); command >= 0; command = side.awaitImmediate()) {
        side.send(RawLine.MESSAGE, ECHO);
        // Any other immediate is a number of exchanges through memory.
        RawLine.exchange(side, command, false);
      }
    }
  }
}
