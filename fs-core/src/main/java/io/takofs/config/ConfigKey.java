package io.takofs.config;

import java.time.Duration;
import java.util.Arrays;
import java.util.Locale;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * One configuration key: its name, type, default, bounds and meaning.
 *
 * <p>Thread rule: immutable, any thread.
 *
 * @param <T> Java type of its values
 */
public final class ConfigKey<T> {
  /** Prefix of the keys that only servers read. */
  private static final String SERVER = ConfigKeys.PREFIX + "server.";

  /** The processes that a key affects. */
  public enum Readers {
    CLIENT,
    SERVER,
    BOTH
  }

  private final String name;
  private final String type;
  private final String allowed;
  private final String defaultText;
  private final T defaultValue;
  private final String meaning;
  private final Function<String, T> parser;
  private final Function<T, String> formatter;
  private Readers readers;

  private ConfigKey(
      String name,
      String type,
      String allowed,
      String defaultText,
      String meaning,
      Function<String, T> parser,
      Function<T, String> formatter) {
    this.name = name;
    this.type = type;
    this.allowed = allowed;
    this.defaultText = defaultText;
    this.meaning = meaning;
    this.parser = parser;
    this.formatter = formatter;
    this.defaultValue = parse(defaultText);
    this.readers = name.startsWith(SERVER) ? Readers.SERVER : Readers.CLIENT;
  }

  /** Says that clients and servers read it; before it is published. */
  ConfigKey<T> readByBoth() {
    readers = Readers.BOTH;
    return this;
  }

  static ConfigKey<String> string(
      String name,
      String allowed,
      String defaultText,
      String meaning,
      Function<String, String> check) {
    return new ConfigKey<>(
        name, "string", allowed, defaultText, meaning, check, Function.identity());
  }

  static ConfigKey<Integer> integer(
      String name, int min, int max, int defaultValue, String meaning) {
    return new ConfigKey<>(
        name,
        "int",
        "a whole number from " + min + " to " + max,
        Integer.toString(defaultValue),
        meaning,
        text -> Math.toIntExact(inRange(Long.parseLong(text), min, max)),
        value -> Integer.toString(value));
  }

  static ConfigKey<Long> size(
      String name, String min, String max, String defaultText, String meaning) {
    long least = Units.parseSize(min);
    long most = Units.parseSize(max);
    return new ConfigKey<>(
        name,
        "size",
        "bytes, or a number with k, m, g or t, from " + min + " to " + max,
        defaultText,
        meaning,
        text -> inRange(Units.parseSize(text), least, most),
        Units::formatSize);
  }

  static ConfigKey<Duration> duration(
      String name, String min, String max, String defaultText, String meaning) {
    long least = Units.parseDuration(min).toNanos();
    long most = Units.parseDuration(max).toNanos();
    return new ConfigKey<>(
        name,
        "duration",
        "a number with us, ms, s, m, h or d, from " + min + " to " + max,
        defaultText,
        meaning,
        text -> Duration.ofNanos(inRange(Units.parseDuration(text).toNanos(), least, most)),
        Units::formatDuration);
  }

  static ConfigKey<Boolean> bool(String name, boolean defaultValue, String meaning) {
    return new ConfigKey<>(
        name,
        "boolean",
        "true or false",
        Boolean.toString(defaultValue),
        meaning,
        ConfigKey::parseBoolean,
        value -> Boolean.toString(value));
  }

  static <E extends Enum<E>> ConfigKey<E> choice(String name, E defaultValue, String meaning) {
    Class<E> values = defaultValue.getDeclaringClass();
    String allowed =
        Arrays.stream(values.getEnumConstants())
            .map(ConfigKey::lowerCase)
            .collect(Collectors.joining(", "));
    return new ConfigKey<>(
        name,
        "enum",
        "one of " + allowed,
        lowerCase(defaultValue),
        meaning,
        text -> Enum.valueOf(values, text.toUpperCase(Locale.ROOT)),
        ConfigKey::lowerCase);
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

  /** Full name, such as {@code fs.tako.block.size}. */
  public String name() {
    return name;
  }

  /** {@code string, int, size, duration, boolean} or {@code enum}. */
  public String type() {
    return type;
  }

  /** The processes that read the key. */
  public Readers readers() {
    return readers;
  }

  /** The unit of a value without one, for people; empty for a value that is no quantity. */
  public String unit() {
    return switch (type) {
      case "size" -> "bytes";
      case "duration" -> "none: a value has its own";
      default -> "";
    };
  }

  /** The permitted values, for people: bounds, units or choices. */
  public String allowed() {
    return allowed;
  }

  /** The default as it stands in a configuration file. */
  public String defaultText() {
    return defaultText;
  }

  public T defaultValue() {
    return defaultValue;
  }

  /** The key's effect, for people. */
  public String meaning() {
    return meaning;
  }

  /**
   * The value of {@code text}, surrounding blanks ignored.
   *
   * @throws IllegalArgumentException when it is not one of {@link #allowed}
   */
  public T parse(String text) {
    return parser.apply(text.strip());
  }

  /** The text that {@link #parse} reads as {@code value}. */
  public String format(T value) {
    return formatter.apply(value);
  }

  @Override
  public String toString() {
    return name;
  }
}
