package io.takofs.config;

import java.time.Duration;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Numbers with units: {@code 256m} is a size in bytes, {@code 500ms} a duration. */
public final class Units {
  private static final Pattern NUMBER = Pattern.compile("(\\d{1,19})\\s*([a-z]*)");

  private Units() {}

  /**
   * Bytes.
   *
   * @throws IllegalArgumentException for what is no size
   */
  public static long parseSize(String text) {
    Matcher number = match(text);
    int shift =
        switch (number.group(2)) {
          case "", "b" -> 0;
          case "k" -> 10;
          case "m" -> 20;
          case "g" -> 30;
          case "t" -> 40;
          default -> throw unknown(number.group(2), "b, k, m, g and t");
        };
    return scale(number, 1L << shift);
  }

  static String formatSize(long bytes) {
    String[] units = {"", "k", "m", "g", "t"};
    int unit = 0;
    long count = bytes;
    while (count != 0 && count % 1024 == 0 && unit < units.length - 1) {
      count /= 1024;
      unit++;
    }
    return count + units[unit];
  }

  static Duration parseDuration(String text) {
    Matcher number = match(text);
    long nanos =
        switch (number.group(2)) {
          case "us" -> 1_000L;
          case "ms" -> 1_000_000L;
          case "s" -> 1_000_000_000L;
          case "m", "min" -> 60_000_000_000L;
          case "h" -> 3_600_000_000_000L;
          case "d" -> 86_400_000_000_000L;
          default -> throw unknown(number.group(2), "us, ms, s, m, h and d");
        };
    return Duration.ofNanos(scale(number, nanos));
  }

  static String formatDuration(Duration duration) {
    String[] units = {"d", "h", "m", "s", "ms", "us"};
    long nanos = duration.toNanos();
    for (String unit : units) {
      long one = parseDuration("1" + unit).toNanos();
      if (nanos != 0 && nanos % one == 0) {
        return nanos / one + unit;
      }
    }
    return nanos / 1000 + "us";
  }

  private static IllegalArgumentException unknown(String unit, String known) {
    return new IllegalArgumentException(
        (unit.isEmpty() ? "a unit is missing" : "unknown unit " + unit) + ": there are " + known);
  }

  private static Matcher match(String text) {
    Matcher number = NUMBER.matcher(text.toLowerCase(Locale.ROOT));
    if (!number.matches()) {
      throw new IllegalArgumentException("not a number with a unit");
    }
    return number;
  }

  private static long scale(Matcher number, long factor) {
    try {
      return Math.multiplyExact(Long.parseLong(number.group(1)), factor);
    } catch (ArithmeticException tooLarge) {
      throw new IllegalArgumentException("too large", tooLarge);
    }
  }
}
