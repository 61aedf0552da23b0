package io.takofs.bench.compare;

import io.takofs.bench.report.Row;
import java.io.IOException;

/**
 * One line of the comparison: an operation repeated in batches.
 *
 * <p>Thread rule: prepare, run and finish are called from one thread; a line may use its own.
 */
interface Line extends Row {
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
}
