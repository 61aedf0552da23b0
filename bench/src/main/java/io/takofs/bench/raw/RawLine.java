package io.takofs.bench.raw;

import io.takofs.bench.report.Figure;
import io.takofs.bench.report.Measurement;
import io.takofs.bench.report.Row;
import io.takofs.bench.report.Unit;
import java.util.List;

/**
 * An operation that perftest and Tako both measure: the perftest tool with its options, and the
 * same operation through the transport SPI.
 */
enum RawLine {
  /** Both sides sleep until a completion event: half a round trip. */
  MESSAGE_LATENCY("message latency, 64 B, events", Unit.MICROSECONDS, 1000) {
    @Override
    List<String> perftest() {
      return List.of("ib_send_lat", "-e", "-s", "" + MESSAGE, "-I", "" + MESSAGE);
    }

    @Override
    double measure(Side side) {
      double[] times = new double[iterations()];
      for (int i = 0; i < times.length; i++) {
        long start = System.nanoTime();
        side.send(MESSAGE, RawResponder.ECHO);
        side.awaitImmediate();
        times[i] = (System.nanoTime() - start) / 1e3;
      }
      return Measurement.median(times) / 2;
    }
  },

  ATOMIC_LATENCY("fetch-and-add latency", Unit.MICROSECONDS, 1000) {
    @Override
    List<String> perftest() {
      return List.of("ib_atomic_lat", "-A", "FETCH_AND_ADD");
    }

    @Override
    double measure(Side side) {
      double[] times = new double[iterations()];
      for (int i = 0; i < times.length; i++) {
        long start = System.nanoTime();
        side.fetchAndAdd();
        drain(side, 0);
        times[i] = (System.nanoTime() - start) / 1e3;
      }
      return Measurement.median(times);
    }
  },

  WRITE_BANDWIDTH("write bandwidth, 64 KiB", Unit.MEBIBYTES_PER_SECOND, 500) {
    @Override
    List<String> perftest() {
      return List.of("ib_write_bw", "-s", "" + BULK, "-t", "" + DEPTH, "-Q", "1");
    }

    @Override
    double measure(Side side) {
      return bandwidth(side, () -> side.write(BULK));
    }
  },

  READ_BANDWIDTH("read bandwidth, 64 KiB", Unit.MEBIBYTES_PER_SECOND, 500) {
    @Override
    List<String> perftest() {
      return List.of("ib_read_bw", "-s", "" + BULK, "-t", "" + DEPTH, "-Q", "1");
    }

    @Override
    double measure(Side side) {
      return bandwidth(side, () -> side.read(BULK));
    }
  },

  /**
   * Both sides spin on the last bytes of a buffer: half a round trip. On one processor they take
   * turns, and that is what it measures; last, because a compiler that still works takes turns too.
   */
  WRITE_LATENCY("write latency, 64 B", Unit.MICROSECONDS, 100) {
    @Override
    List<String> perftest() {
      return List.of("ib_write_lat", "-s", "" + MESSAGE, "-I", "" + MESSAGE);
    }

    @Override
    double measure(Side side) {
      side.send(MESSAGE, iterations());
      side.awaitImmediate();
      return exchange(side, iterations(), true) / 2;
    }
  };

  /** Bytes of a message whose latency is measured. */
  static final int MESSAGE = 64;

  /** Bytes of an operation whose bandwidth is measured. */
  static final int BULK = 64 << 10;

  /** Operations outstanding at most where bandwidth is measured; else one. */
  static final int DEPTH = 128;

  private final String title;
  private final Unit unit;
  private final int iterations;

  RawLine(String title, Unit unit, int iterations) {
    this.title = title;
    this.unit = unit;
    this.iterations = iterations;
  }

  /** The row of the table. */
  Row row() {
    return new Figure(title, unit);
  }

  /** Operations a round. */
  int iterations() {
    return iterations;
  }

  /** The tool and its options, without those that every tool gets. */
  abstract List<String> perftest();

  /** Does the same through the SPI; returns the figure. */
  abstract double measure(Side side);

  /**
   * Exchanges {@code count} writes with the peer; returns the median round trip in microseconds.
   */
  static double exchange(Side side, int count, boolean first) {
    double[] times = new double[count];
    for (int i = 1; i <= count; i++) {
      long start = System.nanoTime();
      if (first) {
        write(side, i);
      }
      while (side.received(MESSAGE) != i) {
        side.checkConnected(); // and no pause: perftest has none
      }
      if (!first) {
        write(side, i);
      }
      times[i - 1] = (System.nanoTime() - start) / 1e3;
    }
    return count == 0 ? 0 : Measurement.median(times);
  }

  private static void write(Side side, int number) {
    side.mark(MESSAGE, number);
    side.write(MESSAGE);
    drain(side, 0);
  }

  private static void drain(Side side, int outstanding) {
    while (side.outstanding() > outstanding) {
      side.poll();
      side.checkConnected();
    }
  }

  double bandwidth(Side side, Runnable operation) {
    long start = System.nanoTime();
    for (int i = 0; i < iterations; i++) {
      drain(side, DEPTH - 1);
      operation.run();
    }
    drain(side, 0);
    long elapsed = System.nanoTime() - start;
    return unit.figure((long) iterations * BULK, elapsed) / (1 << 20);
  }
}
