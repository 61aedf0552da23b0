package io.takofs.bench.report;

/** Units of figures. */
public enum Unit {
  SECONDS("s", "s", 1e-6),
  NANOSECONDS("ns", "ns/op", 1e3),
  MICROSECONDS("us", "us/op", 1),
  /** How often something happens, the less the better. */
  TIMES("times", "us/op", 1),
  MEBIBYTES_PER_SECOND("MiB/s", "us/MiB", 1),
  OPERATIONS_PER_SECOND("op/s", "us/op", 1);

  private final String label;
  private final String cpuLabel;
  private final double cpuFactor;

  Unit(String label, String cpuLabel, double cpuFactor) {
    this.label = label;
    this.cpuLabel = cpuLabel;
    this.cpuFactor = cpuFactor;
  }

  String label() {
    return label;
  }

  /** The unit in which processor time is shown beside such a figure. */
  String cpuLabel() {
    return cpuLabel;
  }

  /** Converts microseconds of processor time to the unit shown. */
  double cpu(double microseconds) {
    return microseconds * cpuFactor;
  }

  /** The figure of {@code count} operations, or MiB, done in {@code nanoseconds}. */
  public double figure(long count, long nanoseconds) {
    return switch (this) {
      case SECONDS -> nanoseconds / 1e9 / count;
      case MICROSECONDS -> nanoseconds / 1e3 / count;
      case NANOSECONDS -> (double) nanoseconds / count;
      case TIMES -> throw new IllegalArgumentException("times are counted, not measured");
      case MEBIBYTES_PER_SECOND, OPERATIONS_PER_SECOND -> count * 1e9 / nanoseconds;
    };
  }

  /** The factor by which {@code ours} is better than {@code theirs}. */
  double advantage(double ours, double theirs) {
    return switch (this) {
      case SECONDS, MICROSECONDS, NANOSECONDS, TIMES -> theirs / ours;
      case MEBIBYTES_PER_SECOND, OPERATIONS_PER_SECOND -> ours / theirs;
    };
  }
}
