package io.takofs.bench.log;

import io.takofs.bench.report.Row;
import io.takofs.bench.report.Unit;
import java.util.List;
import java.util.function.ToDoubleFunction;

/**
 * A row of the comparison.
 *
 * @param figure from what the two servers found in a run
 */
record LogLine(String name, Unit unit, ToDoubleFunction<List<RunFigures>> figure) implements Row {

  /** Operations a second of both servers together. */
  static LogLine rate(String name, List<String> counted) {
    return new LogLine(
        name,
        Unit.OPERATIONS_PER_SECOND,
        found ->
            found.stream()
                .mapToDouble(
                    each ->
                        counted.stream().mapToDouble(each::get).sum()
                            / each.get("elapsed_ns")
                            * 1e9)
                .sum());
  }

  /** A latency, the mean of the servers'. */
  static LogLine latency(String name, String percentile) {
    return new LogLine(
        name,
        Unit.MICROSECONDS,
        found ->
            found.stream().mapToDouble(each -> each.get(percentile) / 1e3).average().orElseThrow());
  }

  /** The cost or count of the second server, which only follows, for each put of the first. */
  static LogLine followed(String name, Unit unit, String counted) {
    return new LogLine(name, unit, found -> found.get(1).get(counted) / found.get(0).get("puts"));
  }
}
