package io.takofs.server.report;

import java.time.Duration;
import java.util.Locale;

/** Lengths of time as people read them. */
public final class Spans {
  private static final String[] UNITS = {"ns", "us", "ms", "s"};

  private Spans() {}

  /** Hours, minutes and seconds, and days before them. */
  public static String clock(Duration span) {
    String clock =
        String.format(
            Locale.ROOT,
            "%02d:%02d:%02d",
            span.toHoursPart(),
            span.toMinutesPart(),
            span.toSecondsPart());
    return span.toDays() == 0 ? clock : span.toDays() + " days " + clock;
  }

  /** Three digits and a unit. */
  public static String human(long ns) {
    double value = ns;
    int unit = 0;
    while (value >= 1000 && unit < UNITS.length - 1) {
      value /= 1000;
      unit++;
    }
    return String.format(
        Locale.ROOT, unit > 0 && value < 10 ? "%.1f %s" : "%.0f %s", value, UNITS[unit]);
  }
}
