package io.takofs.bench.compare;

import io.takofs.bench.report.Row;

/**
 * One line of the comparison: an operation repeated in batches.
 *
 * <p>Thread rule: prepare, run and finish are called from one thread; a line may use its own.
 */
interface Line extends Row {
  /** The line as this candidate does it; null if it makes no sense for it. */
  default Line of(BenchCandidate candidate) {
    return candidate.hasFiles() ? this : null;
  }

  /** Operations (or MiB) that one batch does. */
  int batch();

  /** Makes what the batch needs; not timed. */
  void prepare(BenchCandidate candidate, int round) throws Exception;

  /** Does the batch; timed as a whole. */
  void run(BenchCandidate candidate, int round) throws Exception;

  /** The nanoseconds to count for the last batch, which took {@code elapsed}. */
  default long counted(long elapsed) {
    return elapsed;
  }

  /** Removes what the batch left; not timed. */
  default void finish(BenchCandidate candidate, int round) throws Exception {
    candidate.fs().delete(candidate.base(), true);
  }
}
