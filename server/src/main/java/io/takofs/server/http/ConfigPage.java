package io.takofs.server.http;

import io.takofs.config.ConfigKey;
import io.takofs.config.ConfigKeys;
import io.takofs.config.TakoConfig;
import java.util.List;
import java.util.Map;

/** The page of configured values and their sources. */
final class ConfigPage implements HtmlPage {
  private final TakoConfig config;

  ConfigPage(TakoConfig config) {
    this.config = config;
  }

  @Override
  public String title() {
    return "Configuration";
  }

  @Override
  public int write(Html html, Map<String, List<String>> parameters) {
    html.heading("Configuration of this server").table("Key", "Value", "From", "Default");
    for (ConfigKey<?> key : ConfigKeys.all()) {
      if (key.readers() != ConfigKey.Readers.CLIENT) {
        html.row(key.name(), config.text(key), config.origin(key), key.defaultText());
      }
    }
    html.endTable();
    for (String warning : config.warnings()) {
      html.paragraph(warning);
    }
    return 200;
  }
}
