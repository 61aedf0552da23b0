package io.takofs.bench.log;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.Arrays;
import java.util.BitSet;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * The work of a server in each short part of a run. On a machine with other work a thread is
 * without a processor at times, and the other server waits for it then: only those parts count in
 * which both had one. Where the thread has to let others run, all parts count.
 *
 * <p>Thread rule: one thread.
 */
final class RunWindows {
  /** Less than a turn on the processor lasts. */
  private static final long LENGTH_NS = TimeUnit.MICROSECONDS.toNanos(500);

  private static final int LATENCIES_MAX = 1 << 23;

  /** All the time, as far as two clocks tell. */
  private static final double SHARE_MIN = 0.95;

  private static final double MEDIAN = 0.5;
  private static final double TAIL = 0.99;

  private final ThreadMXBean threads = ManagementFactory.getThreadMXBean();
  private final String[] names;
  private final boolean countsAll;
  private final int[] latencies = new int[LATENCIES_MAX];
  private final int[] putsBegan = new int[LATENCIES_MAX]; // the part in which each put began
  private double[] shares = {};
  private long[][] counts = {};
  private int[] latencyEnds = {};
  private int latencyCount;
  private long startNs;
  private int current;
  private int keptCount;
  private int[] keptLatencies = {};
  private long[] keptCounts = {};
  private long beganNs;
  private long cpuAtBegin;
  private long[] totalsAtBegin = {};

  /**
   * @param names of what is counted
   * @param countsAll whether parts count in which the thread had no processor
   */
  RunWindows(String[] names, boolean countsAll) {
    this.names = names;
    this.countsAll = countsAll;
  }

  /** Begins with the first of so many as {@code nanos} have. */
  void begin(long start, long nanos, long[] totals) {
    int count = (int) (nanos / LENGTH_NS);
    startNs = start;
    shares = new double[count];
    counts = new long[count][names.length];
    latencyEnds = new int[count];
    latencyCount = 0;
    current = -1;
    open(start, 0, totals);
  }

  private void open(long now, int window, long[] totals) {
    Arrays.fill(latencyEnds, Math.max(0, current), Math.min(window, shares.length), latencyCount);
    current = window;
    beganNs = now;
    cpuAtBegin = threads.getCurrentThreadCpuTime();
    totalsAtBegin = totals;
  }

  /** Whether the present part is over. */
  boolean isOver(long now) {
    return now - startNs >= (current + 1) * LENGTH_NS;
  }

  /**
   * Closes the present part, and begins the one that {@code now} is in; whether there is one. What
   * was done since counts as the present part's; those between were as long.
   */
  boolean next(long now, long[] totals) {
    double used = threads.getCurrentThreadCpuTime() - cpuAtBegin;
    int window = (int) ((now - startNs) / LENGTH_NS);
    Arrays.fill(shares, current, Math.min(window, shares.length), used / (now - beganNs));
    for (int i = 0; i < names.length; i++) {
      counts[current][i] = totals[i] - totalsAtBegin[i];
    }
    open(now, window, totals);
    return current < shares.length;
  }

  /** A put is done. */
  void add(long putBeganNs, long now) {
    if (putBeganNs - startNs >= 0 && latencyCount < LATENCIES_MAX) {
      putsBegan[latencyCount] = (int) ((putBeganNs - startNs) / LENGTH_NS);
      latencies[latencyCount++] = (int) Math.min(Integer.MAX_VALUE, now - putBeganNs);
    }
  }

  /** For each part a 1 when it may count for this thread, else a 0. */
  String line() {
    return Arrays.stream(shares)
        .mapToObj(share -> countsAll || share >= SHARE_MIN ? "1" : "0")
        .collect(Collectors.joining());
  }

  /** Forgets what was kept of earlier runs. */
  void forget() {
    keptCount = 0;
    keptLatencies = new int[0];
    keptCounts = new long[names.length];
  }

  /** Counts the parts {@code kept} of the last run, beside what was kept before. */
  void keep(BitSet kept) {
    keptCount += kept.cardinality();
    for (int i = 0; i < names.length; i++) {
      int name = i;
      keptCounts[i] += kept.stream().mapToLong(at -> counts[at][name]).sum();
    }
    keptLatencies =
        IntStream.concat(
                Arrays.stream(keptLatencies), kept.stream().flatMap(at -> latencies(kept, at)))
            .toArray();
  }

  /** Of the puts that were done in a part, and began in it or in those before that were kept. */
  private IntStream latencies(BitSet kept, int at) {
    int since = kept.previousClearBit(at) + 1;
    return IntStream.range(at == 0 ? 0 : latencyEnds[at - 1], latencyEnds[at])
        .filter(i -> putsBegan[i] >= since)
        .map(i -> latencies[i]);
  }

  /** The sum of what was counted in the parts that were kept, their length, and latencies. */
  RunFigures report() {
    RunFigures figures = new RunFigures();
    for (int i = 0; i < names.length; i++) {
      figures.put(names[i], (double) keptCounts[i]);
    }
    figures.put("elapsed_ns", (double) keptCount * LENGTH_NS);
    int[] sorted = Arrays.stream(keptLatencies).sorted().toArray();
    figures.put("p50_ns", at(sorted, MEDIAN));
    figures.put("p99_ns", at(sorted, TAIL));
    return figures;
  }

  private static double at(int[] sorted, double quantile) {
    return sorted.length == 0 ? Double.NaN : sorted[(int) (quantile * sorted.length)];
  }
}
