package io.takofs.cli;

import io.takofs.layout.Layout;
import java.io.IOException;
import java.io.InputStream;
import java.util.Properties;
import picocli.CommandLine.IVersionProvider;

/** The version of this build. */
public final class Version implements IVersionProvider {
  /** Version of the release or snapshot, as in the build. */
  public static String text() throws IOException {
    Properties properties = new Properties();
    try (InputStream in = Version.class.getResourceAsStream("/tako-version.properties")) {
      properties.load(in);
    }
    return properties.getProperty("version");
  }

  @Override
  public String[] getVersion() throws IOException {
    return new String[] {
      "tako " + text(),
      "protocol " + Layout.PROTOCOL_VERSION + ", layout " + Long.toHexString(Layout.LAYOUT_HASH),
      "java " + Runtime.version()
    };
  }
}
