package io.takofs.bench.clusters;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The resources of a process at a time, or those that it has more than at another time.
 *
 * @param threads of the kernel
 * @param heap KiB that are used after a collection
 * @param own KiB of memory that is the process's alone: stacks, buffers, the whole heap
 * @param shared KiB of shared memory that it has looked at, pools of data servers among it
 * @param tcp connections
 * @param local sockets of this host
 * @param descriptors of all kinds
 */
record ProcessCost(
    long threads, long heap, long own, long shared, long tcp, long local, long descriptors) {
  private static final Path PROC = Path.of("/proc/self");

  /** The cost of this process now. */
  static ProcessCost ofSelf() throws IOException {
    System.gc();
    List<String> descriptors = openDescriptors();
    long heap = ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed() >> 10;
    return new ProcessCost(
        status("Threads"),
        heap,
        status("RssAnon"),
        status("RssShmem"),
        sockets(descriptors, "tcp", 9) + sockets(descriptors, "tcp6", 9),
        sockets(descriptors, "unix", 6),
        descriptors.size());
  }

  /** The difference between this cost and a smaller one. */
  ProcessCost minus(ProcessCost other) {
    return new ProcessCost(
        threads - other.threads,
        heap - other.heap,
        own - other.own,
        shared - other.shared,
        tcp - other.tcp,
        local - other.local,
        descriptors - other.descriptors);
  }

  /** The numbers as words that {@link #parse} takes. */
  String text() {
    return Stream.of(threads, heap, own, shared, tcp, local, descriptors)
        .map(String::valueOf)
        .collect(Collectors.joining(" "));
  }

  /** The cost that {@link #text} wrote. */
  static ProcessCost parse(String text) {
    List<Long> numbers = Stream.of(text.split(" ")).map(Long::valueOf).toList();
    return new ProcessCost(
        numbers.get(0),
        numbers.get(1),
        numbers.get(2),
        numbers.get(3),
        numbers.get(4),
        numbers.get(5),
        numbers.get(6));
  }

  private static long status(String field) throws IOException {
    for (String line : Files.readAllLines(PROC.resolve("status"))) {
      if (line.startsWith(field + ":")) {
        return Long.parseLong(line.replaceAll("\\D", ""));
      }
    }
    throw new IOException(PROC + "/status has no " + field);
  }

  /** The targets of the open descriptors. */
  private static List<String> openDescriptors() throws IOException {
    List<String> targets = new ArrayList<>();
    try (DirectoryStream<Path> all = Files.newDirectoryStream(PROC.resolve("fd"))) {
      for (Path each : all) {
        if (Files.isSymbolicLink(each)) { // the one of this listing may be gone
          targets.add(Files.readSymbolicLink(each).toString());
        }
      }
    }
    return targets;
  }

  /**
   * Counts the descriptors that are sockets of a kind.
   *
   * @param table of the kernel's tables of sockets
   * @param column of the number of the socket in it
   */
  private static long sockets(List<String> descriptors, String table, int column)
      throws IOException {
    Path file = PROC.resolve("net").resolve(table);
    if (!Files.exists(file)) {
      return 0;
    }
    return Files.readAllLines(file).stream()
        .map(line -> line.strip().split("\\s+"))
        .filter(fields -> fields.length > column)
        .filter(fields -> descriptors.contains("socket:[" + fields[column] + "]"))
        .count();
  }
}
