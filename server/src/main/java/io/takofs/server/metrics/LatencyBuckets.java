package io.takofs.server.metrics;

import java.util.List;

/**
 * Times by size: four buckets for each doubling, from half a microsecond to two minutes. Bucket 0
 * has all that is shorter, the last one all that is longer.
 */
public final class LatencyBuckets {
  /** Times below 2^9 ns share a bucket. */
  private static final int FIRST_OCTAVE = 9;

  private static final int LAST_OCTAVE = 36;
  private static final int PER_OCTAVE = 4;
  private static final int PER_OCTAVE_BITS = 2;

  /** The number of buckets. */
  public static final int COUNT = 1 + (LAST_OCTAVE - FIRST_OCTAVE + 1) * PER_OCTAVE;

  private LatencyBuckets() {}

  /** The bucket of a time. */
  public static int of(long ns) {
    int octave = Long.SIZE - 1 - Long.numberOfLeadingZeros(Math.max(1, ns));
    if (octave < FIRST_OCTAVE) {
      return 0;
    }
    int part = (int) (ns >>> (octave - PER_OCTAVE_BITS)) & (PER_OCTAVE - 1);
    return Math.min(COUNT - 1, 1 + (octave - FIRST_OCTAVE) * PER_OCTAVE + part);
  }

  /** The first time, ns, that is too long for a bucket. */
  public static long endNs(int bucket) {
    int octave = FIRST_OCTAVE + (bucket - 1) / PER_OCTAVE;
    int part = (bucket - 1) % PER_OCTAVE;
    return bucket == 0
        ? 1L << FIRST_OCTAVE
        : (long) (PER_OCTAVE + part + 1) << (octave - PER_OCTAVE_BITS);
  }

  /**
   * The time, ns, that the share {@code quantile} of all counted times does not exceed, taken as
   * evenly spread within its bucket; 0 when nothing was counted.
   *
   * @param counts times by bucket; what is missing at the end is 0
   */
  public static long quantileNs(List<Long> counts, double quantile) {
    long wanted = (long) Math.ceil(quantile * counts.stream().mapToLong(Long::longValue).sum());
    long seen = 0;
    for (int bucket = 0; bucket < counts.size(); bucket++) {
      long here = counts.get(bucket);
      if (here > 0 && seen + here >= wanted) {
        long begin = bucket == 0 ? 0 : endNs(bucket - 1);
        return begin + (long) ((double) (endNs(bucket) - begin) * (wanted - seen) / here);
      }
      seen += here;
    }
    return 0;
  }
}
