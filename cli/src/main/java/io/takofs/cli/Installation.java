package io.takofs.cli;

import io.takofs.base.TakoException;
import io.takofs.client.ClusterUri;
import io.takofs.config.TakoConfig;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;

/** The files installed beside {@code bin/tako}. */
final class Installation {
  private Installation() {}

  /** Its directory; null when the program was not started by {@code bin/tako}. */
  static Path home() {
    String home = System.getProperty("tako.home");
    return home == null ? null : Path.of(home);
  }

  /** The command that runs it. */
  static String command() {
    return System.getProperty("tako.command", "bin/tako");
  }

  /**
   * Its configuration: the file that TAKO_CONF names in the environment, else {@code
   * conf/tako-site.xml}; then system properties.
   */
  static TakoConfig configuration() throws IOException {
    return configuration(null);
  }

  /**
   * The URI of the server or the cluster that {@code text} names, a path ignored.
   *
   * @throws TakoException INVALID_ARGUMENT when it names neither
   */
  static URI uri(String text) throws IOException {
    return ClusterUri.parse(text, configuration());
  }

  /** The configuration of {@code file} instead, if that is not null; then system properties. */
  static TakoConfig configuration(Path file) throws IOException {
    TakoConfig config = new TakoConfig();
    Path site = file == null ? usualFile() : file;
    if (site != null) {
      config.addFile(site);
    }
    return config.addSystemProperties();
  }

  private static Path usualFile() {
    String named = System.getenv("TAKO_CONF");
    if (named != null) {
      return Path.of(named);
    }
    Path installed = home() == null ? null : home().resolve("conf").resolve("tako-site.xml");
    return installed != null && Files.exists(installed) ? installed : null;
  }
}
