package io.takofs.bench.calls;

import io.takofs.bench.report.Row;
import java.io.IOException;
import java.util.List;

/** A row of one of the comparisons. */
interface CallLine extends Row {
  /** The candidates, the baseline first. */
  List<String> ways(CallsMain.Transport transport);

  /** Measures one of {@link #ways}. */
  CallBench.Result run(CallBench bench, String way) throws IOException, InterruptedException;

  /**
   * The figure in {@link #unit}.
   *
   * @param apart by the clock; else by the server's processor time
   */
  double figure(CallBench.Result result, boolean apart);
}
