package io.takofs.bench.log;

import io.takofs.base.Undo;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * Two servers, each leading a group that the other one follows in, whose frames go one way.
 *
 * <p>Thread rule: one thread.
 */
final class LogPair implements AutoCloseable {
  private static final long LEAD_NS = TimeUnit.MILLISECONDS.toNanos(20);

  /** Of time with a processor each, that a run needs to count. */
  private static final double COUNTED_MIN_NS = 3e7;

  /** Seconds of a run that warms up: others have the machine in between. */
  private static final double AT_ONCE = 0.25;

  /** Of a run, what comes before the part that counts. */
  private static final int WARM_UP_PART = 8;

  private static final int ATTEMPTS = 40;

  private final Path directory;
  private final List<LogProcess> servers = new ArrayList<>();

  LogPair(FrameWay way, String transport, Path parent, int objects, int slots) throws IOException {
    directory = Files.createTempDirectory(parent, "tako-bench-log-");
    try (Undo undo = new Undo()) {
      undo.add(this);
      for (int number = 1; number <= 2; number++) {
        servers.add(new LogProcess(number, way, transport, directory, objects, slots));
      }
      String first = servers.get(0).answer();
      String second = servers.get(1).answer();
      servers.get(0).tell(second);
      servers.get(1).tell(first);
      for (LogProcess each : servers) {
        each.answer();
      }
      undo.keep();
    }
  }

  /** Runs something that does not count. */
  void warmUp(LogRun run, int clients, boolean applied, double seconds) throws IOException {
    for (double done = 0; done < seconds; done += AT_ONCE) {
      runOnce(true, run.readPercent(), clients, run.both(), applied || !run.both(), AT_ONCE);
    }
  }

  /**
   * Runs the same load on both, or, for the second, none.
   *
   * @return what each of them found in the parts that count
   */
  List<RunFigures> run(int readPercent, int clients, boolean both, boolean applied, double seconds)
      throws IOException {
    for (int i = 0; i < ATTEMPTS; i++) {
      List<RunFigures> found = runOnce(i == 0, readPercent, clients, both, applied, seconds);
      boolean counts =
          found.stream().allMatch(each -> each.get("elapsed_ns") >= COUNTED_MIN_NS)
              && found.get(0).get("puts") > 0;
      if (counts) {
        return found;
      }
    }
    throw new IOException(
        "this machine is too busy: too little of the time of the two servers counts");
  }

  private List<RunFigures> runOnce(
      boolean fresh, int readPercent, int clients, boolean both, boolean applied, double seconds)
      throws IOException {
    long start = System.nanoTime() + LEAD_NS;
    long counted = (long) (seconds * TimeUnit.SECONDS.toNanos(1));
    for (int i = 0; i < servers.size(); i++) {
      int own = i == 0 || both ? clients : 0;
      Load load =
          new Load(fresh, readPercent, own, applied, start, counted / WARM_UP_PART, counted);
      servers.get(i).tell(load.line());
    }
    String first = servers.get(0).answer();
    String second = servers.get(1).answer();
    String kept =
        IntStream.range(0, first.length())
            .mapToObj(i -> first.charAt(i) == '1' && second.charAt(i) == '1' ? "1" : "0")
            .collect(Collectors.joining());
    List<RunFigures> found = new ArrayList<>();
    for (LogProcess each : servers) {
      each.tell(kept);
      RunFigures figures = RunFigures.parse(each.answer());
      found.add(figures);
    }
    return found;
  }

  @Override
  public void close() {
    servers.forEach(LogProcess::end);
    servers.forEach(LogProcess::awaitEnd);
    servers.forEach(LogProcess::close);
    try (Stream<Path> files = Files.walk(directory)) {
      for (Path each : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.deleteIfExists(each);
      }
    } catch (IOException e) {
      System.err.println("cannot remove " + directory + ": " + e);
    }
  }
}
