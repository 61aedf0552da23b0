package io.takofs.base;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Properties;

/** The version of this build of Tako. */
public final class Version {
  private static final String TEXT = read();

  private Version() {}

  /** Such as {@code 0.1.0}. */
  public static String text() {
    return TEXT;
  }

  private static String read() {
    Properties properties = new Properties();
    try (InputStream input = Version.class.getResourceAsStream("version.properties")) {
      Invariant.check(input != null, "version.properties is on the class path");
      properties.load(input);
    } catch (IOException e) {
      throw new UncheckedIOException("cannot read version.properties", e);
    }
    return properties.getProperty("version");
  }
}
