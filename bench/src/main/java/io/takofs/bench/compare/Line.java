package io.takofs.bench.compare;

import java.io.IOException;

/**
 * One line of the comparison: an operation repeated in batches.
 *
 * <p>Thread rule: prepare, run and finish are called from one thread; a line may use its own.
 */
interface Line {
  /** Name in the table and in the JSON. */
  String name();

  /** What a figure means: microseconds an operation, MiB a second, operations a second. */
  Unit unit();

  /** Operations (or MiB) that one batch does. */
  int batch();

  /** Makes what the batch needs; not timed. */
  void prepare(Candidate candidate, int round) throws Exception;

  /** Does the batch; timed as a whole. */
  void run(Candidate candidate, int round) throws Exception;

  /** Removes what the batch left; not timed. */
  default void finish(Candidate candidate, int round) throws IOException {
    candidate.fs().delete(candidate.base(), true);
  }

  /** Units of figures. */
  enum Unit {
    MICROSECONDS("us"),
    MEBIBYTES_PER_SECOND("MiB/s"),
    OPERATIONS_PER_SECOND("op/s");

    private final String label;

    Unit(String label) {
      this.label = label;
    }

    String label() {
      return label;
    }

    /** The figure of {@code count} operations done in {@code nanoseconds}. */
    double figure(long count, long nanoseconds) {
      return this == MICROSECONDS ? nanoseconds / 1e3 / count : count * 1e9 / nanoseconds;
    }

    /** How many times better {@code ours} is than {@code theirs}. */
    double advantage(double ours, double theirs) {
      return this == MICROSECONDS ? theirs / ours : ours / theirs;
    }
  }
}
