package io.takofs.cli;

import io.takofs.config.ConfigKey;
import io.takofs.config.ConfigKeys;
import io.takofs.config.TakoConfig;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code tako config}. */
@Command(name = "config", description = "Explains and lists configuration keys.")
final class ConfigCommand implements Runnable {
  @Spec private CommandSpec spec;

  @Override
  public void run() {
    throw new ParameterException(spec.commandLine(), "doc or list?");
  }

  @Command(description = "Prints the reference of all keys, or of those named, as Markdown.")
  int doc(@Parameters(arity = "0..*", paramLabel = "KEY") List<String> names) {
    PrintWriter out = spec.commandLine().getOut();
    if (names == null) {
      out.print(ConfigReference.markdown());
    } else {
      List<ConfigKey<?>> keys = names.stream().<ConfigKey<?>>map(this::key).toList();
      keys.forEach(key -> out.println(ConfigReference.markdown(key).strip()));
    }
    out.flush();
    return 0;
  }

  private ConfigKey<?> key(String name) {
    ConfigKey<?> key = ConfigKeys.find(name);
    if (key == null) {
      throw new ParameterException(spec.commandLine(), ConfigKeys.unknown(name));
    }
    return key;
  }

  @Command(description = "Prints each key, its value here and where that comes from.")
  int list(
      @Option(
              names = "--conf",
              paramLabel = "FILE",
              description = "Configuration file (default: TAKO_CONF, else conf/tako-site.xml).")
          Path file,
      @Option(names = "--changed", description = "Only values that are not the default.")
          boolean changed)
      throws IOException {
    TakoConfig config = Installation.configuration(file);
    PrintWriter out = spec.commandLine().getOut();
    for (ConfigKey<?> key : ConfigKeys.all()) {
      String value = config.text(key);
      if (!changed || !value.equals(key.defaultText())) {
        out.printf("%-36s %-12s %s%n", key.name(), value, config.origin(key));
      }
    }
    out.flush();
    return 0;
  }
}
