package io.takofs.cli;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code tako fs}: Hadoop's file system shell, whose commands and arguments it passes on. */
@Command(
    name = "fs",
    description =
        "Works with files and directories: all of `hadoop fs`, over Hadoop's client that comes with"
            + " Tako. Options below stand before the command.",
    footer = {
      "",
      "For example:",
      "  tako fs -ls -R /          or  tako fs ls -R /",
      "  tako fs -put FILE /dir    tako fs -help    tako fs -usage put"
    })
final class FsCommand implements Callable<Integer> {
  private static final String URI_BEGIN = "tako://";

  @Spec private CommandSpec spec;

  @Mixin private ServerOptions location;

  @Parameters(
      arity = "0..*",
      paramLabel = "COMMAND",
      description = "A command of `hadoop fs` and its arguments; its dash may be left out.")
  private List<String> arguments = List.of();

  /** All arguments after the command belong to the shell. */
  static void passOn(CommandLine fs) {
    fs.setUnmatchedOptionsArePositionalParams(true)
        .setStopAtPositional(true)
        .setPosixClusteredShortOptionsAllowed(false); // -help is a command and not -h with more
  }

  /** Whether none of {@code arguments} of a command line is for this command itself. */
  static boolean isForShell(String... arguments) {
    return arguments.length > 1
        && arguments[0].equals("fs")
        && !arguments[1].startsWith("--")
        && !arguments[1].equals("-h");
  }

  @Override
  public Integer call() throws IOException {
    spec.commandLine().getOut().flush();
    return run(location, arguments);
  }

  /** Has the shell do it; the exit code. */
  static int run(ServerOptions location, List<String> arguments) throws IOException {
    List<String> words = new ArrayList<>(arguments);
    if (words.isEmpty()) {
      words.add("-help");
    } else if (!words.get(0).startsWith("-")) {
      words.set(0, "-" + words.get(0));
    }
    HadoopShell shell = new HadoopShell(Installation.configuration(), location.user());
    boolean asksForHelp = words.get(0).equals("-help") || words.get(0).equals("-usage");
    Optional<String> named = words.stream().filter(word -> word.startsWith(URI_BEGIN)).findFirst();
    return shell.run(asksForHelp ? null : location.defaultServer(named), words);
  }
}
