package io.takofs.cli;

import io.takofs.layout.Layout;
import picocli.CommandLine.IVersionProvider;

/** The output of {@code tako version}. */
public final class VersionProvider implements IVersionProvider {
  @Override
  public String[] getVersion() {
    return new String[] {
      "tako " + io.takofs.base.Version.text(),
      "protocol " + Layout.PROTOCOL_VERSION + ", layout " + Long.toHexString(Layout.LAYOUT_HASH),
      "java " + Runtime.version()
    };
  }
}
