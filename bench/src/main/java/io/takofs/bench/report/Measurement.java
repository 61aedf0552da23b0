package io.takofs.bench.report;

import java.util.Arrays;

/**
 * The figures of one row for one candidate, one a round.
 *
 * <p>Thread rule: one thread.
 */
public final class Measurement {
  private final double[] figures;
  private final double[] clientCpu;
  private final double[] serverCpu;
  private int rounds;

  /** Room for {@code rounds} rounds. */
  public Measurement(int rounds) {
    figures = new double[rounds];
    clientCpu = new double[rounds];
    serverCpu = new double[rounds];
  }

  /** Adds a round: the figure, and microseconds of processor time an operation. */
  public void add(double figure, double clientCpuMicros, double serverCpuMicros) {
    figures[rounds] = figure;
    clientCpu[rounds] = clientCpuMicros;
    serverCpu[rounds] = serverCpuMicros;
    rounds++;
  }

  /** Adds a round whose processor time is not known. */
  public void add(double figure) {
    add(figure, Double.NaN, Double.NaN);
  }

  boolean hasCpu() {
    return !Double.isNaN(clientCpuMicros());
  }

  double[] figures() {
    return Arrays.copyOf(figures, rounds);
  }

  double figure() {
    return median(figures());
  }

  double clientCpuMicros() {
    return median(Arrays.copyOf(clientCpu, rounds));
  }

  double serverCpuMicros() {
    return median(Arrays.copyOf(serverCpu, rounds));
  }

  /** The median; of an even number the mean of the middle two. */
  public static double median(double[] values) {
    double[] sorted = values.clone();
    Arrays.sort(sorted);
    int middle = sorted.length / 2;
    return sorted.length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
  }
}
