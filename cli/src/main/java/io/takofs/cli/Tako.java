package io.takofs.cli;

import io.takofs.base.TakoException;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.PrintWriter;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ScopeType;
import picocli.CommandLine.Spec;

/** Entry point of {@code bin/tako}. */
@Command(
    name = "tako",
    description = "An in-memory file system for Hadoop.",
    versionProvider = VersionProvider.class,
    subcommands = {
      ServerCommand.class,
      DevCommand.class,
      FsCommand.class,
      StatusCommand.class,
      TopCommand.class,
      LeasesCommand.class,
      FsckCommand.class,
      SafeModeCommand.class,
      QuotaCommand.class,
      BenchCommand.class,
      DoctorCommand.class,
      ConfCommand.class,
      ConfigCommand.class,
      CompletionCommand.class,
      VersionCommand.class
    })
public final class Tako implements Runnable {
  @Spec private CommandSpec spec;

  @Option(
      names = "--help",
      usageHelp = true,
      scope = ScopeType.INHERIT,
      description = "Shows this help.")
  @SuppressWarnings("UnusedVariable") // Picocli acts on it.
  private boolean help;

  @Option(names = "--version", versionHelp = true, description = "Shows the version.")
  @SuppressWarnings("UnusedVariable") // Picocli acts on it.
  private boolean version;

  /** Runs a command; the exit code is 0, 1 when it failed, 2 when it was misused. */
  public static void main(String[] arguments) {
    int code = commandLine().execute(arguments);
    if (System.out.checkError() && !readerLeft()) {
      System.err.println("tako: standard output could not be written");
      code = Math.max(code, 1);
    }
    System.exit(code);
  }

  /** Whether nobody reads the output any more, as with {@code | head}: then nothing is missing. */
  private static boolean readerLeft() {
    try (FileOutputStream out = new FileOutputStream(FileDescriptor.out)) {
      out.write('\n');
      return false;
    } catch (IOException e) {
      return "Broken pipe".equals(e.getMessage());
    }
  }

  /** The command line with its error handling, for tests too. */
  static CommandLine commandLine() {
    CommandLine line =
        new CommandLine(new Tako())
            .setExecutionExceptionHandler(Tako::explain)
            .setCaseInsensitiveEnumValuesAllowed(true);
    FsCommand.passOn(line.getSubcommands().get("fs"));
    return line;
  }

  @Override
  public void run() {
    throw new ParameterException(spec.commandLine(), "Which command?");
  }

  /** A person wants to know what is wrong; a stack trace only when it may be a bug of ours. */
  private static int explain(
      Exception failure, CommandLine commandLine, CommandLine.ParseResult parsed) throws Exception {
    if (!(failure instanceof IOException)) {
      throw failure;
    }
    PrintWriter err = commandLine.getErr();
    String status = failure instanceof TakoException tako ? " (" + tako.status().name() + ")" : "";
    err.println("tako: " + text(failure) + status);
    err.flush();
    return commandLine.getCommandSpec().exitCodeOnExecutionException();
  }

  private static String text(Exception failure) {
    String message = failure.getMessage();
    return failure instanceof java.nio.file.NoSuchFileException
        ? "no such local file: " + message
        : message == null ? failure.getClass().getSimpleName() : message;
  }
}
