package io.takofs.cli;

import java.io.PrintWriter;
import picocli.AutoComplete;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code tako completion}. */
@Command(name = "completion", description = "Prints what completes commands in a shell.")
final class CompletionCommand implements Runnable {
  @Spec private CommandSpec spec;

  @Override
  public void run() {
    throw new ParameterException(spec.commandLine(), "For which shell? There is bash.");
  }

  @Command(description = "For bash, and zsh with bashcompinit: source <(tako completion bash)")
  int bash() {
    PrintWriter out = spec.commandLine().getOut();
    out.print(AutoComplete.bash("tako", spec.root().commandLine()));
    out.flush();
    return 0;
  }
}
