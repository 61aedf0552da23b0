package io.takofs.bench.compare;

import io.takofs.bench.report.CpuTime;
import io.takofs.bench.report.Measurement;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Measures lines, interleaved: every round runs a line on each candidate in turn.
 *
 * <p>Thread rule: one thread.
 *
 * @param rounds that count
 * @param warmUpSeconds of each line on each candidate before, not counted, and to the end of a run
 */
record Comparison(int rounds, double warmUpSeconds) {
  /** Measurements by the name of the candidate, for those that run the line. */
  Map<String, Measurement> measure(Line line, List<BenchCandidate> candidates) throws Exception {
    Map<BenchCandidate, Line> lines = new LinkedHashMap<>();
    Map<String, Measurement> measurements = new LinkedHashMap<>();
    for (BenchCandidate candidate : candidates) {
      Line itsOwn = line.of(candidate);
      if (itsOwn != null) {
        lines.put(candidate, itsOwn);
        measurements.put(candidate.name(), new Measurement(rounds));
        useCodeOf(candidate);
        warmUp(itsOwn, candidate);
      }
    }
    for (int round = 0; round < rounds; round++) {
      for (Map.Entry<BenchCandidate, Line> each : lines.entrySet()) {
        measure(each.getValue(), each.getKey(), round, measurements.get(each.getKey().name()));
      }
    }
    return measurements;
  }

  private static void measure(
      Line line, BenchCandidate candidate, int round, Measurement measurement) throws Exception {
    useCodeOf(candidate);
    line.prepare(candidate, round);
    CpuTime client = CpuTime.ofSelf();
    CpuTime server = CpuTime.ofProcesses(candidate.serverPids());
    long start = System.nanoTime();
    line.run(candidate, round);
    long elapsed = System.nanoTime() - start;
    long clientNanos = CpuTime.ofSelf().since(client);
    long serverNanos = CpuTime.ofProcesses(candidate.serverPids()).since(server);
    measurement.add(
        line.unit().figure(line.batch(), line.counted(elapsed)),
        clientNanos / 1e3 / line.batch(),
        serverNanos / 1e3 / line.batch());
    line.finish(candidate, round);
  }

  /** Hadoop's jobs look for a file system's class with this thread's loader, and so do theirs. */
  private static void useCodeOf(BenchCandidate candidate) {
    Thread.currentThread().setContextClassLoader(candidate.fs().getConf().getClassLoader());
  }

  private void warmUp(Line line, BenchCandidate candidate) throws Exception {
    long start = System.nanoTime();
    for (int round = 0; seconds(start) < warmUpSeconds; round++) {
      line.prepare(candidate, round);
      line.run(candidate, round);
      line.finish(candidate, round);
    }
  }

  private static double seconds(long start) {
    return (System.nanoTime() - start) / 1e9;
  }
}
