package io.takofs.cli;

import io.takofs.config.TakoConfig;
import java.net.URI;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The properties in core-site.xml with which a Hadoop client uses Tako as its default file system.
 */
final class CoreSite {
  private CoreSite() {}

  /**
   * The whole file.
   *
   * @param config whose names of clusters the clients know then, too
   */
  static String xml(URI fileSystem, TakoConfig config) {
    Map<String, String> properties = new LinkedHashMap<>();
    properties.put("fs.defaultFS", fileSystem.toString());
    properties.put("fs.tako.impl", "io.takofs.hadoop.TakoFileSystem");
    properties.put("fs.AbstractFileSystem.tako.impl", "io.takofs.hadoop.TakoFs");
    properties.putAll(config.clusterKeys());
    return SiteFile.xml(properties);
  }
}
