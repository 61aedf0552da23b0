package io.takofs.system;

import java.io.BufferedReader;
import java.io.IOException;
import java.util.HashMap;
import java.util.Map;

/**
 * {@link WriterMain} somewhere else, and what it has acknowledged.
 *
 * <p>Thread rule: one thread.
 */
abstract class Writer implements AutoCloseable {
  private final BufferedReader output;
  private final Map<String, Long> acknowledged = new HashMap<>();
  private String failure;
  private String failureText = "it said nothing";

  /**
   * @param output what it says
   */
  Writer(BufferedReader output) {
    this.output = output;
  }

  /** Reads what it says until it has acknowledged {@code count} more times. */
  void awaitAcknowledgements(int count) throws IOException {
    for (int i = 0; i < count; i++) {
      if (!readLine()) {
        throw new AssertionError("the writer ended early: " + failureText);
      }
    }
  }

  /** Reads what it has said up to now. */
  void readPending() throws IOException {
    while (output.ready()) {
      readLine();
    }
  }

  /** Reads to its end. */
  void awaitEnd() throws IOException {
    boolean more = true;
    while (more) {
      more = readLine();
    }
  }

  /** Path to the least length that must be there. */
  Map<String, Long> acknowledged() {
    return acknowledged;
  }

  /** Status it failed with, or null. */
  String failure() {
    return failure;
  }

  /** Its message when it failed, for people. */
  String failureText() {
    return failureText;
  }

  @Override
  public abstract void close();

  private boolean readLine() throws IOException {
    String line = output.readLine();
    if (line == null) {
      return false;
    }
    String[] words = line.split(" ", -1);
    if (words[0].equals("failed")) {
      failure = words[1];
      failureText = line;
    } else if (words.length == 3) {
      acknowledged.put(words[1], Long.valueOf(words[2]));
    }
    return true;
  }
}
