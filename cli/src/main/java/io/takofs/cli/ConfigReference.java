package io.takofs.cli;

import io.takofs.config.ConfigKey;
import io.takofs.config.ConfigKeys;
import java.util.Locale;

/** The reference of all configuration keys, from the same source as {@code conf/tako-site.xml}. */
final class ConfigReference {
  private ConfigReference() {}

  /** A page with a section a key. */
  static String markdown() {
    StringBuilder page = new StringBuilder("# Configuration of Tako\n\n");
    page.append("A server reads `conf/tako-site.xml`, `bin/tako` too; Hadoop's clients read");
    page.append(" `core-site.xml`. `-D` on the command line wins over files.\n");
    for (ConfigKey<?> key : ConfigKeys.all()) {
      page.append(markdown(key));
    }
    return page.toString();
  }

  /** The section of one key. */
  static String markdown(ConfigKey<?> key) {
    StringBuilder section = new StringBuilder();
    section.append("\n## ").append(key.name()).append("\n\n");
    section.append(key.meaning()).append("\n\n| | |\n|---|---|\n");
    row(section, "Type", key.type());
    row(section, "Unit", key.unit());
    row(section, "Values", key.allowed());
    row(section, "Default", key.defaultText().isEmpty() ? "" : "`" + key.defaultText() + "`");
    row(section, "Read by", readers(key));
    return section.toString();
  }

  private static String readers(ConfigKey<?> key) {
    return key.readers() == ConfigKey.Readers.BOTH
        ? "clients and servers"
        : key.readers().name().toLowerCase(Locale.ROOT) + "s";
  }

  private static void row(StringBuilder page, String name, String value) {
    String cell = value.isEmpty() ? (name.equals("Default") ? "empty" : "") : value;
    if (!cell.isEmpty()) {
      page.append("| ").append(name).append(" | ").append(cell.replace("|", "\\|")).append(" |\n");
    }
  }
}
