package io.takofs.config;

import java.time.Duration;
import java.util.function.Function;

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
  private final ValueType<T> type;
  private final String defaultText;
  private final T defaultValue;
  private final String meaning;
  private Readers readers;

  private ConfigKey(String name, ValueType<T> type, String defaultText, String meaning) {
    this.name = name;
    this.type = type;
    this.defaultText = defaultText;
    this.meaning = meaning;
    this.defaultValue = parse(defaultText);
    this.readers = name.startsWith(SERVER) ? Readers.SERVER : Readers.CLIENT;
  }

  /** Says that clients and servers read it; before it is published. */
  ConfigKey<T> readByBoth() {
    readers = Readers.BOTH;
    return this;
  }

  /** Says that servers alone read it; before it is published. */
  ConfigKey<T> readByServers() {
    readers = Readers.SERVER;
    return this;
  }

  static ConfigKey<String> string(
      String name,
      String allowed,
      String defaultText,
      String meaning,
      Function<String, String> check) {
    return new ConfigKey<>(name, ValueType.string(allowed, check), defaultText, meaning);
  }

  static ConfigKey<Integer> integer(
      String name, int min, int max, int defaultValue, String meaning) {
    String defaultText = Integer.toString(defaultValue);
    return new ConfigKey<>(name, ValueType.integer(min, max), defaultText, meaning);
  }

  static ConfigKey<Long> size(
      String name, String min, String max, String defaultText, String meaning) {
    return new ConfigKey<>(name, ValueType.size(min, max), defaultText, meaning);
  }

  static ConfigKey<Duration> duration(
      String name, String min, String max, String defaultText, String meaning) {
    return new ConfigKey<>(name, ValueType.duration(min, max), defaultText, meaning);
  }

  static ConfigKey<Boolean> bool(String name, boolean defaultValue, String meaning) {
    return new ConfigKey<>(name, ValueType.BOOLEAN, Boolean.toString(defaultValue), meaning);
  }

  static <E extends Enum<E>> ConfigKey<E> choice(String name, E defaultValue, String meaning) {
    ValueType<E> type = ValueType.choice(defaultValue.getDeclaringClass());
    return new ConfigKey<>(name, type, type.formatter().apply(defaultValue), meaning);
  }

  /** Full name, such as {@code fs.tako.block.size}. */
  public String name() {
    return name;
  }

  /** {@code string, int, size, duration, boolean} or {@code enum}. */
  public String type() {
    return type.name();
  }

  /** The processes that read the key. */
  public Readers readers() {
    return readers;
  }

  /** The unit of a value without one, for people; empty for a value that is no quantity. */
  public String unit() {
    return switch (type.name()) {
      case "size" -> "bytes";
      case "duration" -> "none: a value has its own";
      default -> "";
    };
  }

  /** The permitted values, for people: bounds, units or choices. */
  public String allowed() {
    return type.allowed();
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
  T parse(String text) {
    return type.parser().apply(text.strip());
  }

  /** The text that {@link #parse} reads as {@code value}. */
  String format(T value) {
    return type.formatter().apply(value);
  }

  @Override
  public String toString() {
    return name;
  }
}
