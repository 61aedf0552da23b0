package io.takofs.config;

import io.takofs.base.TakoException;
import io.takofs.proto.Status;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Values of {@link ConfigKeys}. A value is checked when it is set, so that getters never fail.
 * Unknown keys below {@link ConfigKeys#PREFIX} give a warning that names the nearest known one;
 * keys of other programs are passed over.
 *
 * <p>Thread rule: any thread.
 */
public final class TakoConfig {
  private static final Logger LOG = LoggerFactory.getLogger(TakoConfig.class);

  private static final String PROGRAM = "the program";

  private static final Pattern CLUSTER =
      Pattern.compile("fs\\.tako\\.cluster\\.([A-Za-z0-9][A-Za-z0-9-]*)\\.servers");

  private final Map<String, List<String>> clusters = new ConcurrentHashMap<>();
  private final Map<ConfigKey<?>, Object> values = new ConcurrentHashMap<>();
  private final Map<ConfigKey<?>, String> origins = new ConcurrentHashMap<>();
  private final List<String> warnings = new ArrayList<>();

  /** Every key at its default. */
  public TakoConfig() {}

  /** A copy of {@code other}. */
  public TakoConfig(TakoConfig other) {
    values.putAll(other.values);
    clusters.putAll(other.clusters);
    origins.putAll(other.origins);
    warnings.addAll(other.warnings());
  }

  /**
   * Defaults, then the values of {@code file}, then those of system properties of the same names.
   *
   * @throws TakoException INVALID_ARGUMENT naming file, key, value and what is allowed; NOT_FOUND
   *     when there is no such file
   */
  public static TakoConfig load(Path file) throws IOException {
    return new TakoConfig().addFile(file).addSystemProperties();
  }

  /** Sets all of {@code entries}; {@code source} names them in errors. */
  public static TakoConfig of(Iterable<Map.Entry<String, String>> entries, String source)
      throws TakoException {
    TakoConfig config = new TakoConfig();
    for (Map.Entry<String, String> entry : entries) {
      config.set(entry.getKey(), entry.getValue(), source);
    }
    return config;
  }

  /** Sets what a file in Hadoop's XML form says. */
  public TakoConfig addFile(Path file) throws IOException {
    for (Map.Entry<String, String> property : SiteXml.read(file)) {
      set(property.getKey(), property.getValue(), file.toString());
    }
    return this;
  }

  /** Sets what system properties ({@code -Dfs.tako.x=y}) say. */
  public TakoConfig addSystemProperties() throws TakoException {
    Properties properties = System.getProperties();
    for (String name : properties.stringPropertyNames()) {
      set(name, properties.getProperty(name), "system property");
    }
    return this;
  }

  /** Sets {@code key}. */
  public <T> TakoConfig set(ConfigKey<T> key, T value) throws TakoException {
    return set(key.name(), key.format(value), PROGRAM);
  }

  /** Sets the key named {@code name} to what {@code text} says. */
  public TakoConfig set(String name, String text) throws TakoException {
    return set(name, text, PROGRAM);
  }

  /** Sets the key named {@code name} to what {@code text} says; {@code source} said so. */
  public TakoConfig set(String name, String text, String source) throws TakoException {
    ConfigKey<?> key = ConfigKeys.find(name);
    if (key == null) {
      setOther(name, text, source);
      return this;
    }
    try {
      values.put(key, key.parse(text));
      origins.put(key, source);
    } catch (IllegalArgumentException e) {
      throw new TakoException(
          Status.INVALID_ARGUMENT,
          String.format(
              "%s: %s is '%s'%s; allowed is %s", source, name, text, reason(key, e), key.allowed()),
          e);
    }
    return this;
  }

  /** Why a text is refused, for people; of a number the bounds say it. */
  private static String reason(ConfigKey<?> key, IllegalArgumentException e) {
    return key.type().equals("string") ? " (" + e.getMessage() + ")" : "";
  }

  /**
   * Sets the servers of a cluster, if {@code name} is of that form; ignores other programs' keys.
   */
  private void setOther(String name, String text, String source) throws TakoException {
    Matcher cluster = CLUSTER.matcher(name);
    if (cluster.matches()) {
      try {
        clusters.put(cluster.group(1).toLowerCase(Locale.ROOT), ServerList.parse(text));
      } catch (IllegalArgumentException e) {
        throw new TakoException(
            Status.INVALID_ARGUMENT,
            String.format(
                "%s: %s is '%s' (%s); allowed is %s",
                source, name, text, e.getMessage(), ServerList.ALLOWED),
            e);
      }
    } else if (name.startsWith(ConfigKeys.PREFIX)) {
      warn(source, name);
    }
  }

  /**
   * The servers of the cluster called {@code name}, as {@code fs.tako.cluster.NAME.servers} says;
   * none when there is no such key. The case of names does not matter: URIs do not keep it.
   */
  public List<String> clusterServers(String name) {
    return clusters.getOrDefault(name.toLowerCase(Locale.ROOT), List.of());
  }

  /** The key of the servers of each cluster that has a name here, and its text. */
  public Map<String, String> clusterKeys() {
    Map<String, String> keys = new TreeMap<>();
    clusters.forEach((name, servers) -> keys.put(clusterKey(name), String.join(",", servers)));
    return keys;
  }

  /** The key of the servers of the cluster called {@code name}. */
  public static String clusterKey(String name) {
    return ConfigKeys.PREFIX + "cluster." + name + ".servers";
  }

  /**
   * Sets the key named {@code name}, which must exist, to what {@code text} says.
   *
   * @throws TakoException INVALID_ARGUMENT naming the nearest key when there is none of that name
   */
  public TakoConfig setKnown(String name, String text, String source) throws TakoException {
    if (ConfigKeys.find(name) == null) {
      throw new TakoException(Status.INVALID_ARGUMENT, source + ": " + ConfigKeys.unknown(name));
    }
    return set(name, text, source);
  }

  private void warn(String source, String name) {
    String warning =
        String.format(
            "%s: unknown key %s is ignored; did you mean %s?",
            source, name, ConfigKeys.nearest(name).name());
    LOG.warn(warning);
    synchronized (warnings) {
      warnings.add(warning);
    }
  }

  /** The value of {@code key}: the one set last, else its default. */
  public <T> T get(ConfigKey<T> key) {
    @SuppressWarnings("unchecked") // Only key.parse puts a value.
    T value = (T) values.get(key);
    return value != null ? value : key.defaultValue();
  }

  /** The value of {@code key} as it stands in a configuration file. */
  public <T> String text(ConfigKey<T> key) {
    return key.format(get(key));
  }

  /**
   * The last source that set {@code key}: a file, a system property; {@code default} if none did.
   */
  public String origin(ConfigKey<?> key) {
    return origins.getOrDefault(key, "default");
  }

  /** Warnings about unknown keys, in the order they were met. */
  public List<String> warnings() {
    synchronized (warnings) {
      return List.copyOf(warnings);
    }
  }
}
