package io.takofs.cli;

import java.util.Map;

/** Configuration files in Hadoop's XML form. */
final class SiteFile {
  private SiteFile() {}

  /** The whole file with these properties. */
  static String xml(Map<String, String> properties) {
    StringBuilder xml = new StringBuilder("<?xml version=\"1.0\"?>\n<configuration>\n");
    properties.forEach(
        (name, value) ->
            xml.append("  <property>\n    <name>")
                .append(name)
                .append("</name>\n    <value>")
                .append(value.replace("&", "&amp;").replace("<", "&lt;"))
                .append("</value>\n  </property>\n"));
    return xml.append("</configuration>\n").toString();
  }
}
