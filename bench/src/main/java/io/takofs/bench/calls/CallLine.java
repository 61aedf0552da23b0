package io.takofs.bench.calls;

import io.takofs.bench.report.Row;
import java.io.IOException;
import java.util.List;

/** A row of one of the comparisons. */
interface CallLine extends Row {
  /** The candidates to compare, the baseline first. */
  List<String> candidates();

  /** Measures one of {@link #candidates}. */
  CallBench.Result run(CallBench bench, String candidate) throws IOException, InterruptedException;

  /**
   * The figure in {@link #unit}.
   *
   * @param apart client and server had a processor each
   */
  double figure(CallBench.Result result, boolean apart);
}
