package io.takofs.history;

import io.takofs.history.NamespaceCall.Action;
import java.util.EnumSet;
import java.util.Locale;
import java.util.Set;

/**
 * What came of a call.
 *
 * @param content of a read that was done: what the file had, 0 for nothing
 * @param length of a stat that was done: bytes of the file
 * @param open of a stat that was done: somebody has the file open for writing
 */
public record CallResult(Outcome outcome, long content, long length, boolean open) {
  /** Nobody knows: the call happens at any later time, or never. */
  public static final CallResult UNKNOWN = of(Outcome.UNKNOWN);

  public static final CallResult DONE = of(Outcome.OK);

  /** How a call ends. */
  public enum Outcome {
    OK,
    /** There is no such path. */
    ABSENT,
    /** There is such a path already. */
    EXISTS,
    /** There is, and another client has it open for writing. */
    HELD,
    /** Of a write: the file was replaced or deleted. */
    LOST,
    UNKNOWN;

    /** Its name in a history. */
    String word() {
      return name().toLowerCase(Locale.ROOT);
    }

    /** Those that {@code action} may have when it ends. */
    public static Set<Outcome> of(Action action) {
      return switch (action) {
        case CREATE -> EnumSet.of(OK, EXISTS, HELD);
        case WRITE -> EnumSet.of(OK, LOST);
        case READ, STAT, DELETE -> EnumSet.of(OK, ABSENT);
        case RENAME -> EnumSet.of(OK, ABSENT, EXISTS);
      };
    }
  }

  public static CallResult of(Outcome outcome) {
    return new CallResult(outcome, 0, 0, false);
  }

  /** Of a read. */
  public static CallResult content(long content) {
    return new CallResult(Outcome.OK, content, 0, false);
  }

  /** Of a stat. */
  public static CallResult status(long length, boolean open) {
    return new CallResult(Outcome.OK, 0, length, open);
  }

  /** In words, after those of {@code call}. */
  String describe(NamespaceCall call) {
    String word = outcome.word();
    if (outcome == Outcome.OK && call.action() == Action.READ) {
      return word + (content == 0 ? ", empty" : ", content " + content);
    }
    if (outcome == Outcome.OK && call.action() == Action.STAT) {
      return word + ", " + length + " bytes" + (open ? ", open" : "");
    }
    return word;
  }
}
