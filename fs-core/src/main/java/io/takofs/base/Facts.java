package io.takofs.base;

import java.util.LinkedHashMap;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.MDC;

/**
 * Names and values that a log message is about: programs that read the log find a session under
 * {@code session}, whatever the sentence says. Text logs have the facts after the sentence, JSON
 * logs in an object of their own.
 *
 * <p>Thread rule: one thread.
 */
public final class Facts {
  private final Map<String, String> facts = new LinkedHashMap<>();

  private Facts() {}

  /** A first fact. */
  public static Facts of(String name, Object value) {
    return new Facts().and(name, value);
  }

  /** Another one. */
  public Facts and(String name, Object value) {
    facts.put(name, String.valueOf(value));
    return this;
  }

  /** Says {@code sentence} at level INFO. */
  public void info(Logger log, String sentence) {
    say(() -> log.info(sentence));
  }

  /** Says {@code sentence} at level WARN. */
  public void warn(Logger log, String sentence) {
    say(() -> log.warn(sentence));
  }

  /** Says {@code sentence} at level WARN. */
  public void error(Logger log, String sentence) {
    say(() -> log.error(sentence));
  }

  /** Says {@code sentence} at level ERROR, with where {@code cause} came from. */
  public void error(Logger log, String sentence, Throwable cause) {
    say(() -> log.error(sentence, cause));
  }

  private void say(Runnable saying) {
    facts.forEach(MDC::put);
    try {
      saying.run();
    } finally {
      facts.keySet().forEach(MDC::remove);
    }
  }
}
