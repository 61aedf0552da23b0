package io.takofs.bench.log;

import io.takofs.base.Invariant;
import io.takofs.bench.report.Figure;
import io.takofs.bench.report.Measurement;
import io.takofs.bench.report.Row;
import io.takofs.bench.report.Unit;
import io.takofs.layout.Layout;
import io.takofs.memory.MappedMemory;
import io.takofs.server.log.LogReplica;
import io.takofs.server.log.LogTransports;
import io.takofs.server.log.ReplicatedLog;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * A follower's log, left as it is at some moment and opened by another process's code: with calls
 * the follower has noted how far each segment goes, one-sided it has not looked at the last ones.
 *
 * <p>Thread rule: one thread.
 */
final class RecoveryRun implements AutoCloseable {
  /** Segments beside those with entries: granted ones, and those that nobody is given. */
  private static final int SPARE = 8;

  private static final int BATCH = 16;
  private static final int SCAN_SLOTS = 16;
  private static final int SCANNED_ENTRIES = 300_000;

  private final String transport;
  private final Path directory;
  private final int entries;
  private final int slots;
  private final Map<FrameWay, Path> logs = new EnumMap<>(FrameWay.class);

  /** The rows of a log of so many entries. */
  static List<Row> rows(int entries) {
    return List.of(
        new Figure("recovery of " + entries + " entries", Unit.SECONDS),
        new Figure("recovery: finds the log", Unit.SECONDS),
        new Figure("recovery: applies it", Unit.SECONDS),
        new Figure("recovery: scan of 8 MiB", Unit.MICROSECONDS));
  }

  /** Writes a log in each way. */
  RecoveryRun(String transport, Path parent, int entries) throws IOException {
    this.directory = Files.createTempDirectory(parent, "tako-bench-recovery-");
    this.entries = entries;
    this.transport = transport;
    long bytes = (long) entries * (KeyValueTable.ENTRY_SIZE + 64);
    this.slots = (int) (bytes / Layout.SEGMENT_SIZE) + SPARE;
    for (FrameWay way : FrameWay.values()) {
      Path place = Files.createDirectory(directory.resolve(way.name()));
      try (NodePair nodes = new NodePair(way, transport, place, slots)) {
        fill(nodes, entries);
      }
      logs.put(way, place.resolve("log-1-of-2"));
    }
  }

  private static void fill(NodePair nodes, int count) throws IOException {
    ByteBuffer entry = ByteBuffer.allocate(KeyValueTable.ENTRY_SIZE).order(ByteOrder.LITTLE_ENDIAN);
    ReplicatedLog log = nodes.leader().log();
    for (int i = 0; i < count; i += BATCH) {
      for (int j = i; j < Math.min(count, i + BATCH); j++) {
        KeyValueTable.writeKey(entry, 0, j);
        log.propose(entry.clear());
      }
      nodes.turnUntilCommitted(log.lastIndex());
    }
  }

  /** Opens a copy of the log that was left in this way, and applies it. */
  Map<Row, Double> measure(FrameWay way) throws IOException {
    Path copy = directory.resolve("copy");
    Files.copy(logs.get(way), copy, StandardCopyOption.REPLACE_EXISTING);
    KeyValueTable table = new KeyValueTable(entries);
    try (MappedMemory zone = MappedMemory.map(copy, 0, Files.size(copy))) {
      long begin = System.nanoTime();
      LogReplica replica = BenchMember.replica(2, 1, zone, new LogTransports());
      long opened = System.nanoTime();
      new ReplicatedLog(replica, 0)
          .poll(
              (index, term, payload) -> {
                if (payload.remaining() == KeyValueTable.ENTRY_SIZE) {
                  table.put(payload.order(ByteOrder.LITTLE_ENDIAN), 0);
                }
              });
      long applied = System.nanoTime();
      // The last ones are there, and not known to be committed.
      Invariant.check(
          table.count() >= entries - BATCH, () -> table.count() + " entries were recovered");
      List<Row> rows = rows(entries);
      Map<Row, Double> figures = new LinkedHashMap<>();
      figures.put(rows.get(0), (applied - begin) / 1e9);
      figures.put(rows.get(1), (opened - begin) / 1e9);
      figures.put(rows.get(2), (applied - opened) / 1e9);
      if (way == FrameWay.ONE_SIDED) {
        figures.put(rows.get(3), scan());
      }
      return figures;
    }
  }

  /** Microseconds of a scan of a full segment of puts that nobody has looked at. */
  private double scan() throws IOException {
    Path place = Files.createTempDirectory(directory, "scan");
    try (NodePair nodes = new NodePair(FrameWay.ONE_SIDED, transport, place, SCAN_SLOTS)) {
      fill(nodes, SCANNED_ENTRIES);
      double[] scans =
          nodes.follower().costs().segmentScans().stream().mapToDouble(each -> each).toArray();
      return Measurement.median(scans) / 1e3;
    }
  }

  @Override
  public void close() {
    try (Stream<Path> files = Files.walk(directory)) {
      for (Path each : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.deleteIfExists(each);
      }
    } catch (IOException e) {
      System.err.println("cannot remove " + directory + ": " + e);
    }
  }
}
