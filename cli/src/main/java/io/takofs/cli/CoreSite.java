package io.takofs.cli;

import java.net.URI;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The properties in core-site.xml with which a Hadoop client uses Tako as its default file system.
 */
final class CoreSite {
  private CoreSite() {}

  /** The whole file. */
  static String xml(URI fileSystem) {
    Map<String, String> properties = new LinkedHashMap<>();
    properties.put("fs.defaultFS", fileSystem.toString());
    properties.put("fs.tako.impl", "io.takofs.hadoop.TakoFileSystem");
    properties.put("fs.AbstractFileSystem.tako.impl", "io.takofs.hadoop.TakoFs");
    return SiteFile.xml(properties);
  }
}
