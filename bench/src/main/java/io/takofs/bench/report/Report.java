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
 * The result as a table and as JSON. Ratios are medians of the rounds' pairs against the first
 * candidate: above 1 means better.
 */
public final class Report {
  private static final int ROW_WIDTH = 36;
  private static final int COLUMN_WIDTH = 36;

  private final List<String> names;
  private final Map<Row, Map<String, Measurement>> results;

  /**
   * @param names of the candidates, the baseline first
   * @param results of every candidate by row, in the order to print; a row may lack some
   */
  public Report(List<String> names, Map<? extends Row, Map<String, Measurement>> results) {
    this.names = names;
    this.results = new LinkedHashMap<>(results);
  }

  /** Prints the table. */
  public void print(PrintStream out) {
    out.printf("%nfigure (times better than %s) [client + server CPU us an op or MiB]%n", base());
    StringBuilder heading = new StringBuilder(pad("", ROW_WIDTH));
    for (String name : names) {
      heading.append(pad(name, COLUMN_WIDTH));
    }
    out.println(heading.toString().stripTrailing());
    results.forEach(
        (row, measurements) -> {
          StringBuilder text =
              new StringBuilder(pad(row.name() + ", " + row.unit().label(), ROW_WIDTH));
          for (String name : names) {
            text.append(pad(cell(row, measurements, name), COLUMN_WIDTH));
          }
          out.println(text.toString().stripTrailing());
        });
  }

  private String cell(Row row, Map<String, Measurement> measurements, String name) {
    Measurement measured = measurements.get(name);
    if (measured == null) {
      return "-";
    }
    String figure =
        String.format(
            Locale.ROOT,
            "%s (%.2fx)",
            number(measured.figure()),
            advantage(row, measurements, name));
    if (!measured.hasCpu()) {
      return figure;
    }
    return String.format(
        Locale.ROOT,
        "%s [%.2f + %.2f]",
        figure,
        measured.clientCpuMicros(),
        measured.serverCpuMicros());
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
        "    \"%s\": {\"median\": %.3f, \"advantage\": %.3f, %s\"rounds\": %s}",
        name,
        measured.figure(),
        advantage(row, measurements, name),
        cpu,
        Arrays.stream(measured.figures())
            .mapToObj(figure -> String.format(Locale.ROOT, "%.3f", figure))
            .collect(Collectors.joining(", ", "[", "]")));
  }

  private double advantage(Row row, Map<String, Measurement> measurements, String name) {
    double[] ours = measurements.get(name).figures();
    double[] theirs = measurements.get(base()).figures();
    double[] ratios = new double[ours.length];
    for (int i = 0; i < ours.length; i++) {
      ratios[i] = row.unit().advantage(ours[i], theirs[i]);
    }
    return Measurement.median(ratios);
  }

  private String base() {
    return names.get(0);
  }

  private static String pad(String text, int width) {
    return String.format(Locale.ROOT, "%-" + width + "s", text);
  }
}
