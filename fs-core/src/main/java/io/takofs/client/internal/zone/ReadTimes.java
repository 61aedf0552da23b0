package io.takofs.client.internal.zone;

import io.takofs.layout.Layout;

/**
 * How long reads over one connection usually take: a mean and a mean deviation of the time for each
 * 64 KiB begun, kept as TCP keeps those of its round trips (RFC 6298).
 *
 * <p>Thread rule: any thread.
 */
final class ReadTimes {
  private static final double MEAN_WEIGHT = 1.0 / 8;
  private static final double DEVIATION_WEIGHT = 1.0 / 4;
  private static final int DEVIATIONS = 8;

  private double mean;
  private double deviation;

  private static int units(long bytes) {
    return 1 + (int) (bytes / Layout.UNIT_SIZE);
  }

  /** A read of {@code bytes} took so long. */
  synchronized void took(long bytes, long ns) {
    double each = (double) ns / units(bytes);
    if (mean == 0) {
      deviation = each / 2;
      mean = each;
    } else {
      deviation += DEVIATION_WEIGHT * (Math.abs(each - mean) - deviation);
      mean += MEAN_WEIGHT * (each - mean);
    }
  }

  /** Nanoseconds after which a read of {@code bytes} takes unusually long; 0 while none was. */
  synchronized long usualMaxNs(long bytes) {
    return (long) ((mean + DEVIATIONS * deviation) * units(bytes));
  }
}
