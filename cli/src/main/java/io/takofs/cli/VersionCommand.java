package io.takofs.cli;

import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** {@code tako version}. */
@Command(name = "version", description = "Prints versions of program, protocol and layout.")
final class VersionCommand implements Callable<Integer> {
  @Spec private CommandSpec spec;

  @Override
  public Integer call() {
    for (String line : new VersionProvider().getVersion()) {
      spec.commandLine().getOut().println(line);
    }
    return 0;
  }
}
