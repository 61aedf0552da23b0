package io.takofs.bench.raw;

import io.takofs.transport.shm.ShmTransport;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;

/**
 * What the shm transport itself costs, without a file system on it: the round trip of a
 * writeWithImmediate of 64 bytes each way between two processes, the initiator's time to post one,
 * and what a sleeping awaiter uses. Prints; asserts nothing.
 */
public final class ShmRoundTrip {
  private static final int WARM_UP = 50_000;
  private static final int ROUNDS = 200_000;
  private static final int MESSAGE = 64;
  private static final int DEPTH = 64;
  private static final long SECOND_NS = TimeUnit.SECONDS.toNanos(1);

  private final Side side;

  private ShmRoundTrip(Side side) {
    this.side = side;
  }

  /** Without arguments measures; with an endpoint, echoes. */
  public static void main(String[] args) throws IOException {
    try (Side side = new Side(ShmTransport.create(), MESSAGE, DEPTH)) {
      ShmRoundTrip roundTrip = new ShmRoundTrip(side);
      if (args.length == 1) {
        side.connect(args[0]);
        roundTrip.echo();
      } else {
        side.startPeer(ShmRoundTrip.class);
        roundTrip.measure();
      }
    }
  }

  private void echo() {
    while (side.awaitImmediate() >= 0) {
      side.send(MESSAGE, 0);
    }
  }

  private void measure() {
    print("round trip, 64 bytes and an immediate each way", roundTrips());
    print("posting one write of 64 bytes and an immediate", posts());
    printIdle();
  }

  private Histogram roundTrips() {
    Histogram times = new Histogram(SECOND_NS, 3);
    for (int i = 0; i < WARM_UP + ROUNDS; i++) {
      long start = System.nanoTime();
      side.send(MESSAGE, 0);
      side.awaitImmediate();
      if (i >= WARM_UP) {
        times.recordValue(Math.min(SECOND_NS, System.nanoTime() - start));
      }
    }
    return times;
  }

  /** Time inside stage and ring alone; the reply is awaited outside of it. */
  private Histogram posts() {
    Histogram times = new Histogram(SECOND_NS, 3);
    for (int i = 0; i < ROUNDS; i++) {
      long start = System.nanoTime();
      side.send(MESSAGE, 0);
      times.recordValue(Math.min(SECOND_NS, System.nanoTime() - start));
      side.awaitImmediate();
    }
    return times;
  }

  private void printIdle() {
    ThreadMXBean threads = ManagementFactory.getThreadMXBean();
    long cpu = threads.getCurrentThreadCpuTime();
    long start = System.nanoTime();
    while (System.nanoTime() - start < 5 * SECOND_NS) {
      side.await();
    }
    double share = (threads.getCurrentThreadCpuTime() - cpu) / (double) (System.nanoTime() - start);
    System.out.printf("%-50s %.3f %% of a core%n", "idle awaiter", 100 * share);
  }

  private static void print(String what, Histogram times) {
    System.out.printf(
        "%-50s median %6d ns, 99 %% %6d ns, 99.9 %% %6d ns, mean %6.0f ns%n",
        what,
        times.getValueAtPercentile(50),
        times.getValueAtPercentile(99),
        times.getValueAtPercentile(99.9),
        times.getMean());
  }
}
