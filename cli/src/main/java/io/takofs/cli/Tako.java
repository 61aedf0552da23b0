package io.takofs.cli;

import io.takofs.base.TakoException;
import io.takofs.config.EditDistance;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.AccessDeniedException;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
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
    footer = {"", "`tako help COMMAND` shows the options of a command."},
    versionProvider = VersionProvider.class)
public final class Tako implements Runnable {
  private static final Map<String, Class<?>> COMMANDS = new LinkedHashMap<>();

  static {
    COMMANDS.put("server", ServerCommand.class);
    COMMANDS.put("dev", DevCommand.class);
    COMMANDS.put("fs", FsCommand.class);
    COMMANDS.put("status", StatusCommand.class);
    COMMANDS.put("cluster", ClusterCommand.class);
    COMMANDS.put("top", TopCommand.class);
    COMMANDS.put("leases", LeasesCommand.class);
    COMMANDS.put("fsck", FsckCommand.class);
    COMMANDS.put("repair", RepairCommand.class);
    COMMANDS.put("group", GroupCommand.class);
    COMMANDS.put("safemode", SafeModeCommand.class);
    COMMANDS.put("quota", QuotaCommand.class);
    COMMANDS.put("bench", BenchCommand.class);
    COMMANDS.put("doctor", DoctorCommand.class);
    COMMANDS.put("conf", ConfCommand.class);
    COMMANDS.put("config", ConfigCommand.class);
    COMMANDS.put("completion", CompletionCommand.class);
    COMMANDS.put("version", VersionCommand.class);
  }

  @Spec private CommandSpec spec;

  @Option(
      names = {"-h", "--help"},
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
    int code = execute(arguments);
    if (System.out.checkError() && !readerLeft()) {
      System.err.println("tako: standard output could not be written");
      code = Math.max(code, 1);
    }
    System.exit(code);
  }

  /**
   * The exit code. Without the parser, which would take a third of a start, where it has no say.
   */
  static int execute(String... words) {
    String[] arguments = helpAsOption(words);
    if (arguments.length > 0 && isUnknownCommand(arguments[0])) {
      System.err.println(noSuchCommand(arguments[0]));
      return CommandLine.ExitCode.USAGE;
    }
    if (arguments.length == 1 && arguments[0].equals("version")) {
      for (String line : new VersionProvider().getVersion()) {
        System.out.println(line);
      }
      return 0;
    }
    Optional<ServerCommand> server = ServerCommand.ofSimple(arguments);
    try {
      if (server.isPresent()) {
        return server.get().call();
      }
      if (FsCommand.isForShell(arguments)) {
        return FsCommand.run(new ServerOptions(), List.of(arguments).subList(1, arguments.length));
      }
    } catch (IOException e) {
      System.err.println(explanation(e));
      return 1;
    } catch (Exception e) { // A bug of ours.
      e.printStackTrace();
      return 1;
    }
    return commandLine(arguments).execute(arguments);
  }

  /** {@code tako help COMMAND} is {@code tako COMMAND --help}. */
  private static String[] helpAsOption(String... arguments) {
    if (arguments.length == 0 || !arguments[0].equals("help")) {
      return arguments;
    }
    List<String> words = new ArrayList<>(List.of(arguments).subList(1, arguments.length));
    words.add("--help");
    return words.toArray(new String[0]);
  }

  /** Whether it is a word that stands where a command must. */
  private static boolean isUnknownCommand(String first) {
    return !COMMANDS.containsKey(first) && !first.startsWith("-") && !first.startsWith("@");
  }

  private static String noSuchCommand(String name) {
    int mistakes = Math.max(1, name.length() / 3);
    List<String> near =
        COMMANDS.keySet().stream()
            .filter(each -> EditDistance.between(name, each) <= mistakes)
            .toList();
    String advice =
        near.isEmpty()
            ? "there are " + String.join(", ", COMMANDS.keySet())
            : "did you mean " + String.join(" or ", near) + "?";
    return "tako: no such command: " + name + "; " + advice + " (`tako help` explains them)";
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

  /**
   * The command line with its error handling, for tests too. It has the command that the arguments
   * begin with alone, if they do: to look at the classes of all of them takes a third of a start.
   */
  static CommandLine commandLine(String... arguments) {
    CommandLine line = new CommandLine(new Tako());
    String first = arguments.length == 0 ? null : arguments[0];
    if (COMMANDS.containsKey(first) && !first.equals("completion")) {
      line.addSubcommand(first, COMMANDS.get(first));
    } else {
      COMMANDS.forEach(line::addSubcommand);
    }
    if (line.getSubcommands().containsKey("fs")) {
      FsCommand.passOn(line.getSubcommands().get("fs"));
    }
    return line.setExecutionExceptionHandler(Tako::explain)
        .setCaseInsensitiveEnumValuesAllowed(true);
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
    err.println(explanation(failure));
    err.flush();
    return commandLine.getCommandSpec().exitCodeOnExecutionException();
  }

  /** The text that a person reads about {@code failure}. */
  static String explanation(Exception failure) {
    String status = failure instanceof TakoException tako ? " (" + tako.status().name() + ")" : "";
    return "tako: " + text(failure) + status;
  }

  private static String text(Exception failure) {
    String message = failure.getMessage();
    if (message == null) {
      return failure.getClass().getSimpleName();
    }
    return failure instanceof FileSystemException local && local.getReason() == null
        ? reason(local) + ": " + message
        : message;
  }

  /** These exceptions name the file alone in their message. */
  private static String reason(FileSystemException failure) {
    if (failure instanceof AccessDeniedException) {
      return "permission denied";
    } else if (failure instanceof NoSuchFileException) {
      return "no such local file";
    } else if (failure instanceof FileAlreadyExistsException) {
      return "a local file is there already";
    } else if (failure instanceof NotDirectoryException) {
      return "not a directory";
    } else if (failure instanceof DirectoryNotEmptyException) {
      return "the directory is not empty";
    }
    return failure.getClass().getSimpleName();
  }
}
