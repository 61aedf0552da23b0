package io.takofs.bench.report;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * The result as a table and as JSON. Ratios are medians of the rounds' pairs against each baseline:
 * above 1 means better.
 */
public final class Report {
  private static final int NAME_WIDTH = 32;
  private static final int COLUMN_WIDTH = 13;
  private static final int INDENTATION = 2;

  private final List<String> names;
  private final List<Baseline> baselines;
  private final Map<Row, Map<String, Measurement>> results;

  /**
   * @param names of the candidates, the only baseline first
   * @param results of every candidate by row, in the order to print; a row may lack some
   */
  public Report(List<String> names, Map<? extends Row, Map<String, Measurement>> results) {
    this(names, List.of(Baseline.candidate(names.get(0))), results);
  }

  /**
   * @param names of the candidates
   * @param baselines those of them that others are compared with
   * @param results of every candidate by row, in the order to print; a row may lack some
   */
  public Report(
      List<String> names,
      List<Baseline> baselines,
      Map<? extends Row, Map<String, Measurement>> results) {
    this.names = names;
    this.baselines = baselines;
    this.results = new LinkedHashMap<>(results);
  }

  /** Prints the table. */
  public void print(PrintStream out) {
    out.printf(
        "%nMedians of the rounds, and of their pairs: how many times better than %s.%n",
        baselines.stream().map(Baseline::name).collect(Collectors.joining(", ")));
    StringBuilder heading = new StringBuilder(left("")).append(right("figure"));
    baselines.forEach(baseline -> heading.append(right("x " + baseline.name())));
    if (hasCpu()) {
      heading.append(right("client CPU")).append(right("server CPU"));
    }
    out.println(heading);
    results.forEach((row, measurements) -> print(out, row, measurements));
  }

  private void print(PrintStream out, Row row, Map<String, Measurement> measurements) {
    StringBuilder title = new StringBuilder(left(row.name())).append(right(row.unit().label()));
    if (hasCpu()) {
      title.append(" ".repeat(COLUMN_WIDTH * baselines.size()));
      title.append(right(row.unit().cpuLabel())).append(right(row.unit().cpuLabel()));
    }
    out.println(title);
    for (String name : names) {
      Measurement measured = measurements.get(name);
      if (measured == null) {
        continue;
      }
      StringBuilder line = new StringBuilder(left("  " + name));
      line.append(right(number(measured.figure())));
      for (Baseline baseline : baselines) {
        String other = baseline.of().apply(name);
        boolean compared = measurements.containsKey(other) && !other.equals(name);
        line.append(right(compared ? ratio(advantage(row, measurements, name, other)) : ""));
      }
      if (measured.hasCpu()) {
        line.append(right(number(row.unit().cpu(measured.clientCpuMicros()))));
        line.append(right(number(row.unit().cpu(measured.serverCpuMicros()))));
      }
      out.println(line.toString().stripTrailing());
    }
  }

  private boolean hasCpu() {
    return results.values().stream()
        .flatMap(measurements -> measurements.values().stream())
        .anyMatch(Measurement::hasCpu);
  }

  private static String ratio(double advantage) {
    return Double.isFinite(advantage) ? String.format(Locale.ROOT, "%.2fx", advantage) : "";
  }

  /** With as many digits as mean something. */
  private static String number(double figure) {
    return String.format(
        Locale.ROOT, figure < 10 ? "%.2f" : figure < 1000 ? "%.1f" : "%.0f", figure);
  }

  /** Writes the JSON, if {@code file} is not null. */
  public void write(Path file) throws IOException {
    if (file != null) {
      Files.writeString(file, json());
    }
  }

  private String json() {
    return results.entrySet().stream()
        .map(
            entry ->
                String.format(
                    Locale.ROOT,
                    "  {\"line\": \"%s\", \"unit\": \"%s\", \"candidates\": {%n%s%n  }}",
                    entry.getKey().name(),
                    entry.getKey().unit().label(),
                    names.stream()
                        .filter(entry.getValue()::containsKey)
                        .map(name -> candidate(entry.getKey(), entry.getValue(), name))
                        .collect(Collectors.joining(",\n"))))
        .collect(Collectors.joining(",\n", "[\n", "\n]\n"));
  }

  private String candidate(Row row, Map<String, Measurement> measurements, String name) {
    Measurement measured = measurements.get(name);
    String cpu =
        measured.hasCpu()
            ? String.format(
                Locale.ROOT,
                "\"client_cpu_us\": %.3f, \"server_cpu_us\": %.3f, ",
                measured.clientCpuMicros(),
                measured.serverCpuMicros())
            : "";
    return String.format(
        Locale.ROOT,
        "    \"%s\": {\"median\": %.3f, \"advantage\": %s, %s\"rounds\": %s}",
        name,
        measured.figure(),
        baselines.stream()
            .filter(baseline -> measurements.containsKey(baseline.of().apply(name)))
            .map(
                baseline ->
                    "\"%s\": %s"
                        .formatted(
                            baseline.name(),
                            json(advantage(row, measurements, name, baseline.of().apply(name)))))
            .collect(Collectors.joining(", ", "{", "}")),
        cpu,
        Arrays.stream(measured.figures())
            .mapToObj(figure -> String.format(Locale.ROOT, "%.3f", figure))
            .collect(Collectors.joining(", ", "[", "]")));
  }

  /** Null for what has no ratio: one of the two figures is zero. */
  private static String json(double number) {
    return Double.isFinite(number) ? String.format(Locale.ROOT, "%.3f", number) : "null";
  }

  private static double advantage(
      Row row, Map<String, Measurement> measurements, String name, String baseline) {
    double[] ours = measurements.get(name).figures();
    double[] theirs = measurements.get(baseline).figures();
    double[] ratios = new double[ours.length];
    for (int i = 0; i < ours.length; i++) {
      ratios[i] = row.unit().advantage(ours[i], theirs[i]);
    }
    return Measurement.median(ratios);
  }

  private String left(String text) {
    int longest = names.stream().mapToInt(String::length).max().orElse(0) + INDENTATION;
    return String.format(Locale.ROOT, "%-" + Math.max(NAME_WIDTH, longest) + "s", text);
  }

  private static String right(String text) {
    return String.format(Locale.ROOT, "%" + COLUMN_WIDTH + "s", text);
  }
}
