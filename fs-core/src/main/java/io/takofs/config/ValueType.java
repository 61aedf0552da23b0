package io.takofs.config;

import java.time.Duration;
import java.util.Arrays;
import java.util.Locale;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * The values that a key may have, and their text.
 *
 * <p>Thread rule: immutable, any thread.
 *
 * @param <T> Java type of the values
 * @param name {@code string, int, size, duration, boolean} or {@code enum}
 * @param allowed the permitted values, for people: bounds, units or choices
 * @param parser makes a value of its text; throws IllegalArgumentException when it is not allowed
 * @param formatter makes the text that the parser reads as the same value
 */
record ValueType<T>(
    String name, String allowed, Function<String, T> parser, Function<T, String> formatter) {
  static final ValueType<Boolean> BOOLEAN =
      new ValueType<>(
          "boolean", "true or false", ValueType::parseBoolean, value -> Boolean.toString(value));

  static ValueType<String> string(String allowed, Function<String, String> check) {
    return new ValueType<>("string", allowed, check, Function.identity());
  }

  static ValueType<Integer> integer(int min, int max) {
    return new ValueType<>(
        "int",
        "a whole number from " + min + " to " + max,
        text -> Math.toIntExact(inRange(Long.parseLong(text), min, max)),
        value -> Integer.toString(value));
  }

  static ValueType<Long> size(String min, String max) {
    long least = Units.parseSize(min);
    long most = Units.parseSize(max);
    return new ValueType<>(
        "size",
        "bytes, or a number with k, m, g or t, from " + min + " to " + max,
        text -> inRange(Units.parseSize(text), least, most),
        Units::formatSize);
  }

  static ValueType<Duration> duration(String min, String max) {
    long least = Units.parseDuration(min).toNanos();
    long most = Units.parseDuration(max).toNanos();
    return new ValueType<>(
        "duration",
        "a number with us, ms, s, m, h or d, from " + min + " to " + max,
        text -> Duration.ofNanos(inRange(Units.parseDuration(text).toNanos(), least, most)),
        Units::formatDuration);
  }

  static <E extends Enum<E>> ValueType<E> choice(Class<E> values) {
    String allowed =
        Arrays.stream(values.getEnumConstants())
            .map(ValueType::lowerCase)
            .collect(Collectors.joining(", "));
    return new ValueType<>(
        "enum",
        "one of " + allowed,
        text -> Enum.valueOf(values, text.toUpperCase(Locale.ROOT)),
        ValueType::lowerCase);
  }

  private static String lowerCase(Enum<?> value) {
    return value.name().toLowerCase(Locale.ROOT);
  }

  private static boolean parseBoolean(String text) {
    return switch (text.toLowerCase(Locale.ROOT)) {
      case "true" -> true;
      case "false" -> false;
      default -> throw new IllegalArgumentException("neither true nor false");
    };
  }

  private static long inRange(long value, long min, long max) {
    if (value < min || value > max) {
      throw new IllegalArgumentException("out of range");
    }
    return value;
  }
}
