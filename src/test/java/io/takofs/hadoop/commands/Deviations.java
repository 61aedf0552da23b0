package io.takofs.hadoop.commands;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.io.InputStream;
import java.util.HashMap;
import java.util.Map;

/**
 * Reads which cases of a suite come out differently here, with reasons. A line that begins with
 * {@code #} gives the reason for the cases in the lines below it, which are named by their
 * descriptions; the second of one description ends with " (2)".
 */
final class Deviations {
  private Deviations() {}

  /** Reasons by name of the case, of a file of the class path; none when there is no such file. */
  static Map<String, String> read(String resource) throws IOException {
    Map<String, String> reasons = new HashMap<>();
    String reason = null;
    try (InputStream in = Deviations.class.getResourceAsStream(resource)) {
      String text = in == null ? "" : new String(in.readAllBytes(), UTF_8);
      for (String line : text.lines().toList()) {
        if (line.startsWith("#")) {
          reason = line.substring(1).strip();
        } else if (!line.isBlank()) {
          reasons.put(line.strip(), reason);
        }
      }
    }
    return reasons;
  }
}
