package io.takofs.history;

import io.takofs.history.CallResult.Outcome;

/**
 * A call that a process has made, between two points of one clock, nanoseconds.
 *
 * @param number of it in its history, from 1
 * @param process the one thread that made it
 * @param endNs {@link #NEVER} when the outcome is unknown
 */
public record HistoryOperation(
    long number, int process, long beginNs, long endNs, NamespaceCall call, CallResult result) {
  static final long NEVER = Long.MAX_VALUE;

  static HistoryOperation begun(long number, int process, long beginNs, NamespaceCall call) {
    return new HistoryOperation(number, process, beginNs, NEVER, call, CallResult.UNKNOWN);
  }

  HistoryOperation ended(long atNs, CallResult outcome) {
    return new HistoryOperation(number, process, beginNs, atNs, call, outcome);
  }

  /** The same as if it had never ended. */
  HistoryOperation freed() {
    return ended(NEVER, CallResult.UNKNOWN);
  }

  public boolean isEnded() {
    return endNs != NEVER;
  }

  /** Whether it may have changed anything. */
  boolean isChange() {
    Outcome outcome = result.outcome();
    return !call.isQuery() && (outcome == Outcome.OK || outcome == Outcome.UNKNOWN);
  }

  /** A line for people, times in ms since {@code originNs}. */
  String describe(long originNs) {
    String end = isEnded() ? "%.3f".formatted((endNs - originNs) / 1e6) : "never";
    return "%6d  process %-3d [%11.3f, %11s] ms  %s: %s"
        .formatted(number, process, (beginNs - originNs) / 1e6, end, call, result.describe(call));
  }
}
