package io.takofs.hadoop.commands;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Cases of a suite that come out differently here, with reasons. A line of the file that begins
 * with {@code #} gives the reason for the cases in the lines below it; a case is named by its
 * description, once for each time that it stands in the suite.
 *
 * <p>Thread rule: one thread.
 */
final class Deviations {
  private record Deviation(String description, String reason) {}

  private final Map<String, List<Deviation>> byDescription = new HashMap<>();

  private Deviations() {}

  /** Reads a file of the class path. */
  static Deviations read(String resource) throws IOException {
    Deviations deviations = new Deviations();
    String reason = null;
    try (InputStream in = Deviations.class.getResourceAsStream(resource)) {
      if (in == null) {
        return deviations;
      }
      for (String line : new String(in.readAllBytes(), UTF_8).lines().toList()) {
        if (line.startsWith("#")) {
          reason = line.substring(1).strip();
        } else if (!line.isBlank()) {
          deviations
              .byDescription
              .computeIfAbsent(line.strip(), key -> new ArrayList<>())
              .add(new Deviation(line.strip(), reason));
        }
      }
    }
    return deviations;
  }

  /**
   * The reason why a case of this description failed, which is used up by this, or null when it
   * passed or is not listed.
   */
  String reasonFor(String description, boolean passed) {
    List<Deviation> listed = byDescription.getOrDefault(description, List.of());
    return passed || listed.isEmpty() ? null : listed.remove(0).reason;
  }

  /** What was listed and did not happen: the case passes, or there is none. */
  List<String> unused() {
    return byDescription.values().stream()
        .flatMap(List::stream)
        .map(Deviation::description)
        .toList();
  }
}
