package io.takofs.cli;

import io.takofs.base.TakoException;
import io.takofs.client.CreateOptions;
import io.takofs.client.DirectoryIterator;
import io.takofs.client.TakoClient;
import io.takofs.client.TakoInputStream;
import io.takofs.client.TakoOutputStream;
import io.takofs.server.report.Spans;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.Arrays;
import java.util.Locale;
import java.util.SplittableRandom;

/**
 * Measures the performance that a client on this host gets from a server. The first tenth of each
 * measurement warms up and is not counted.
 *
 * <p>Thread rule: one thread.
 */
final class Bench {
  private static final int BUFFER = 1 << 20;
  private static final int SMALL_READ = 4 << 10;
  private static final int SMALL_WRITE = 128;
  private static final int LISTS = 50;
  private static final double NS = 1e9;
  private static final double MIB = 1 << 20;
  private static final String ROW = "%-28s %12s %10s %10s%n";

  private final TakoClient client;
  private final String directory;
  private final PrintWriter out;
  private final SplittableRandom random = new SplittableRandom(1);

  /** Something that is done many times. */
  @FunctionalInterface
  private interface Step {
    void run(int index) throws IOException;
  }

  Bench(TakoClient client, String directory, PrintWriter out) {
    this.client = client;
    this.directory = directory;
    this.out = out;
  }

  /**
   * Measures and prints.
   *
   * @param files of the metadata part
   * @param size of the file of the throughput part, bytes
   */
  void run(int files, long size) throws IOException {
    out.printf(ROW, "", "per second", "median", "99 %");
    metadata(files);
    smallTransfers(files);
    throughput(size);
  }

  private String path(String kind, int index) {
    return directory + "/" + kind + index;
  }

  private void metadata(int files) throws IOException {
    measure("mkdirs", files, i -> client.mkdirs(path("d", i), 0755, false));
    measure(
        "create and close", files, i -> client.create(path("f", i), CreateOptions.DEFAULT).close());
    measure("stat", files, i -> client.getStatus(path("f", i)));
    measure("list of " + 2 * files, LISTS, i -> list());
    measure("rename", files, i -> client.rename(path("f", i), path("r", i), false));
    measure("delete", files, i -> client.delete(path("r", i), false));
  }

  private void list() throws TakoException {
    DirectoryIterator entries = client.list(directory);
    while (entries.hasNext()) {
      entries.next();
    }
  }

  private void smallTransfers(int count) throws IOException {
    byte[] bytes = new byte[SMALL_WRITE];
    try (TakoOutputStream log = client.create(directory + "/log", CreateOptions.DEFAULT)) {
      measure(
          "write and hflush of 128 B",
          count,
          i -> {
            log.write(bytes);
            log.hflush();
          });
    }
  }

  private void throughput(long size) throws IOException {
    String path = directory + "/data";
    byte[] buffer = new byte[BUFFER];
    random.nextBytes(buffer);
    long begin = System.nanoTime();
    try (TakoOutputStream file = client.create(path, CreateOptions.DEFAULT)) {
      for (long done = 0; done < size; done += BUFFER) {
        file.write(buffer);
      }
    }
    rate("write, 1 MiB buffers", size, System.nanoTime() - begin);
    begin = System.nanoTime();
    try (TakoInputStream file = client.open(path)) {
      while (file.read(buffer) >= 0) {
        // Only how fast they come is of interest.
      }
    }
    rate("read, 1 MiB buffers", size, System.nanoTime() - begin);
    byte[] piece = new byte[SMALL_READ];
    try (TakoInputStream file = client.open(path)) {
      measure(
          "positioned read of 4 KiB",
          (int) Math.min(10_000, size / SMALL_READ),
          i -> file.readFully(random.nextLong(size - SMALL_READ), piece, 0, SMALL_READ));
    }
  }

  private void measure(String name, int count, Step step) throws IOException {
    long[] times = new long[count];
    for (int i = 0; i < count; i++) {
      long begin = System.nanoTime();
      step.run(i);
      times[i] = System.nanoTime() - begin;
    }
    long[] warm = Arrays.copyOfRange(times, count / 10, count);
    double perSecond = warm.length * NS / Math.max(1, Arrays.stream(warm).sum());
    Arrays.sort(warm);
    out.printf(
        ROW,
        name,
        String.format(Locale.ROOT, "%.0f", perSecond),
        Spans.human(warm[warm.length / 2]),
        Spans.human(warm[(int) (warm.length * 0.99)]));
    out.flush();
  }

  private void rate(String name, long bytes, long ns) {
    String perSecond = String.format(Locale.ROOT, "%.0f MiB", bytes / MIB * NS / ns);
    out.printf(ROW, name, perSecond, "", "");
    out.flush();
  }
}
