package io.takofs.hadoop.internal;

import io.takofs.base.TakoException;
import io.takofs.config.ConfigKeys;
import io.takofs.config.TakoConfig;
import java.io.IOException;
import java.util.Map;
import java.util.TreeMap;
import org.apache.hadoop.conf.Configuration;

/** Reads Tako's keys out of a Hadoop configuration, core-site.xml and job settings alike. */
public final class ClientConfig {
  private ClientConfig() {}

  /**
   * The client's configuration from {@code conf}, checked.
   *
   * @throws IOException naming the key, the value and the allowed values
   */
  public static TakoConfig of(Configuration conf) throws IOException {
    try {
      return TakoConfig.of(settings(conf).entrySet(), "Hadoop configuration");
    } catch (TakoException e) {
      throw ErrorTranslation.translate(e, "Hadoop configuration");
    }
  }

  /** The {@code fs.tako.*} keys of {@code conf} that are Tako's. */
  static Map<String, String> settings(Configuration conf) {
    Map<String, String> settings = new TreeMap<>();
    conf.getPropsWithPrefix(ConfigKeys.PREFIX)
        .forEach(
            (name, value) -> {
              if (!isHadoops(name)) {
                settings.put(ConfigKeys.PREFIX + name, value);
              }
            });
    return settings;
  }

  /** Returns true if Hadoop itself reads the key: {@code fs.SCHEME.impl} and its like. */
  private static boolean isHadoops(String name) {
    return name.equals("impl") || name.startsWith("impl.");
  }
}
