package io.takofs.cli;

import java.net.URI;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code tako conf}. */
@Command(
    name = "conf",
    description = "Prints a core-site.xml that makes Tako Hadoop's default file system.")
final class ConfCommand implements Callable<Integer> {
  @Spec private CommandSpec spec;

  @Mixin private DevDirectory dev;

  @Parameters(
      arity = "0..1",
      paramLabel = "URI",
      description = "tako://host:port; without it that of --dir, of TAKO_URI, or of `tako dev`.")
  private String uri;

  @Option(names = "--path", description = "Print the configuration directory of `tako dev`.")
  private boolean path;

  @Override
  public Integer call() throws Exception {
    URI server = uri != null ? Installation.uri(uri) : dev.server();
    String text =
        path
            ? dev.configuration() + System.lineSeparator()
            : CoreSite.xml(server, Installation.configuration());
    spec.commandLine().getOut().print(text);
    spec.commandLine().getOut().flush();
    return 0;
  }
}
