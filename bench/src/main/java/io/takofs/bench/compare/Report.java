package io.takofs.bench.compare;

import java.io.PrintStream;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * The result as a table and as JSON. Ratios are medians of the rounds' pairs against the first
 * candidate: above 1 means better.
 */
final class Report {
  private final List<String> names;
  private final Map<Line, Map<String, Measurement>> results;

  Report(List<String> names, Map<Line, Map<String, Measurement>> results) {
    this.names = names;
    this.results = results;
  }

  void print(PrintStream out) {
    out.printf("%nfigure (times better than %s) [client + server CPU us an op or MiB]%n", base());
    StringBuilder heading = new StringBuilder(pad("", 24));
    for (String name : names) {
      heading.append(pad(name, 36));
    }
    out.println(heading);
    results.forEach(
        (line, measurements) -> {
          StringBuilder row = new StringBuilder(pad(line.name() + ", " + line.unit().label(), 24));
          for (String name : names) {
            Measurement measured = measurements.get(name);
            row.append(
                pad(
                    String.format(
                        Locale.ROOT,
                        "%.1f (%.2fx) [%.1f + %.1f]",
                        measured.figure(),
                        advantage(line, measurements, name),
                        measured.clientCpuMicros(),
                        measured.serverCpuMicros()),
                    36));
          }
          out.println(row.toString().stripTrailing());
        });
  }

  String json() {
    return results.entrySet().stream()
        .map(
            entry ->
                String.format(
                    Locale.ROOT,
                    "  {\"line\": \"%s\", \"unit\": \"%s\", \"candidates\": {%n%s%n  }}",
                    entry.getKey().name(),
                    entry.getKey().unit().label(),
                    names.stream()
                        .map(name -> candidate(entry.getKey(), entry.getValue(), name))
                        .collect(Collectors.joining(",\n"))))
        .collect(Collectors.joining(",\n", "[\n", "\n]\n"));
  }

  private String candidate(Line line, Map<String, Measurement> measurements, String name) {
    Measurement measured = measurements.get(name);
    return String.format(
        Locale.ROOT,
        "    \"%s\": {\"median\": %.3f, \"advantage\": %.3f, \"client_cpu_us\": %.3f,"
            + " \"server_cpu_us\": %.3f, \"rounds\": %s}",
        name,
        measured.figure(),
        advantage(line, measurements, name),
        measured.clientCpuMicros(),
        measured.serverCpuMicros(),
        Arrays.stream(measured.figures())
            .mapToObj(figure -> String.format(Locale.ROOT, "%.3f", figure))
            .collect(Collectors.joining(", ", "[", "]")));
  }

  private double advantage(Line line, Map<String, Measurement> measurements, String name) {
    double[] ours = measurements.get(name).figures();
    double[] theirs = measurements.get(base()).figures();
    double[] ratios = new double[ours.length];
    for (int i = 0; i < ours.length; i++) {
      ratios[i] = line.unit().advantage(ours[i], theirs[i]);
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
