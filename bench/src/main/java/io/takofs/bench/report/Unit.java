package io.takofs.bench.report;

/** Units of figures. */
public enum Unit {
  SECONDS("s", "s", 1e-6),
  MICROSECONDS("us", "us/op", 1),
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

  /** What processor time beside such a figure is shown in. */
  String cpuLabel() {
    return cpuLabel;
  }

  /** Microseconds of processor time in what they are shown in. */
  double cpu(double microseconds) {
    return microseconds * cpuFactor;
  }

  /** The figure of {@code count} operations, or MiB, done in {@code nanoseconds}. */
  public double figure(long count, long nanoseconds) {
    return switch (this) {
      case SECONDS -> nanoseconds / 1e9 / count;
      case MICROSECONDS -> nanoseconds / 1e3 / count;
      case MEBIBYTES_PER_SECOND, OPERATIONS_PER_SECOND -> count * 1e9 / nanoseconds;
    };
  }

  /** How many times better {@code ours} is than {@code theirs}. */
  double advantage(double ours, double theirs) {
    return switch (this) {
      case SECONDS, MICROSECONDS -> theirs / ours;
      case MEBIBYTES_PER_SECOND, OPERATIONS_PER_SECOND -> ours / theirs;
    };
  }
}
