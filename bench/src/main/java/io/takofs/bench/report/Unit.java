package io.takofs.bench.report;

/** Units of figures. */
public enum Unit {
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

  /** The figure of {@code count} operations, or MiB, done in {@code nanoseconds}. */
  public double figure(long count, long nanoseconds) {
    return this == MICROSECONDS ? nanoseconds / 1e3 / count : count * 1e9 / nanoseconds;
  }

  /** How many times better {@code ours} is than {@code theirs}. */
  double advantage(double ours, double theirs) {
    return this == MICROSECONDS ? theirs / ours : ours / theirs;
  }
}
