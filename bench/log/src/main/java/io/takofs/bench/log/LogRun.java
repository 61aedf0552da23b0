package io.takofs.bench.log;

import io.takofs.bench.report.Unit;
import java.io.IOException;
import java.util.List;

/**
 * A run of two servers, and the rows that it fills.
 *
 * @param readPercent of the operations
 * @param both whether each server has clients and follows the other; else the second only follows
 */
record LogRun(int readPercent, boolean both, List<LogLine> lines) {
  private static final int UPDATE_HEAVY = 50;
  private static final int READ_HEAVY = 95;

  /** The loads A and B of YCSB, puts alone, and puts to a server that only follows. */
  static List<LogRun> all() {
    return List.of(
        symmetric("50 % puts", UPDATE_HEAVY),
        symmetric("5 % puts", READ_HEAVY),
        symmetric("puts alone", 0),
        new LogRun(
            0,
            false,
            List.of(
                LogLine.followed("follower: calls of a put", Unit.TIMES, "calls"),
                LogLine.followed("follower: frames of a put", Unit.NANOSECONDS, "call_ns"),
                LogLine.followed("follower: looks later", Unit.NANOSECONDS, "scan_ns"),
                LogLine.followed("follower: gives slots", Unit.NANOSECONDS, "request_ns"),
                LogLine.followed("follower: zeroes slots", Unit.NANOSECONDS, "zeroing_ns"),
                LogLine.followed("follower: applies", Unit.NANOSECONDS, "applied_ns"))));
  }

  private static LogRun symmetric(String name, int readPercent) {
    return new LogRun(
        readPercent,
        true,
        List.of(
            LogLine.rate(name + ", operations", List.of("puts", "gets")),
            LogLine.rate(name + ", puts", List.of("puts")),
            LogLine.latency(name + ", median of puts", "p50_ns"),
            LogLine.latency(name + ", 99 % of puts", "p99_ns")));
  }

  /**
   * Runs it.
   *
   * @param clients of a server
   * @param applied whether the followers of the symmetric runs apply; the one that only follows
   *     does in any case
   */
  List<RunFigures> run(LogPair pair, int clients, boolean applied, double seconds)
      throws IOException {
    return pair.run(readPercent, clients, both, applied || !both, seconds);
  }
}
