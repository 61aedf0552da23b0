package io.takofs.cli;

import java.io.PrintWriter;
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
    print(spec.commandLine().getOut());
    return 0;
  }

  static void print(PrintWriter out) {
    for (String line : new VersionProvider().getVersion()) {
      out.println(line);
    }
  }
}
