package io.takofs.bench.report;

import java.util.function.UnaryOperator;

/**
 * The baseline of a comparison: a column of the table.
 *
 * @param name in the table and in the JSON
 * @param of the candidate that a candidate is compared with, by their names
 */
public record Baseline(String name, UnaryOperator<String> of) {
  /** The same candidate for all. */
  public static Baseline candidate(String name) {
    return new Baseline(name, candidate -> name);
  }
}
