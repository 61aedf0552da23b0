package io.takofs.bench.log;

import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * The figures of a server in one run, by name; a line of text between processes.
 *
 * <p>Thread rule: one thread.
 */
final class RunFigures {
  private final Map<String, Double> values = new TreeMap<>();

  void put(String name, double value) {
    values.put(name, value);
  }

  double get(String name) {
    Double value = values.get(name);
    if (value == null) {
      throw new IllegalArgumentException("no figure is named " + name);
    }
    return value;
  }

  /** The figures as {@link #parse} reads them. */
  String line() {
    return values.entrySet().stream()
        .map(each -> each.getKey() + "=" + each.getValue())
        .collect(Collectors.joining(" "));
  }

  static RunFigures parse(String line) {
    RunFigures figures = new RunFigures();
    for (String each : line.strip().split(" ", -1)) {
      int at = each.indexOf('=');
      figures.put(each.substring(0, at), Double.parseDouble(each.substring(at + 1)));
    }
    return figures;
  }
}
