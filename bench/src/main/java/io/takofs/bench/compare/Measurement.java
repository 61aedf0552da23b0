package io.takofs.bench.compare;

import java.util.Arrays;

/**
 * The figures of one line on one candidate, one a round.
 *
 * <p>Thread rule: one thread.
 */
final class Measurement {
  private final double[] figures;
  private final double[] clientCpu;
  private final double[] serverCpu;
  private int rounds;

  Measurement(int rounds) {
    figures = new double[rounds];
    clientCpu = new double[rounds];
    serverCpu = new double[rounds];
  }

  /** Adds a round: the figure, and microseconds of processor time an operation. */
  void add(double figure, double clientCpuMicros, double serverCpuMicros) {
    figures[rounds] = figure;
    clientCpu[rounds] = clientCpuMicros;
    serverCpu[rounds] = serverCpuMicros;
    rounds++;
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

  static double median(double[] values) {
    double[] sorted = values.clone();
    Arrays.sort(sorted);
    int middle = sorted.length / 2;
    return sorted.length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
  }
}
