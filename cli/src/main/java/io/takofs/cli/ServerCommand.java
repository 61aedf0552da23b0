package io.takofs.cli;

import io.takofs.config.TakoConfig;
import io.takofs.server.RunningServer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code tako server}: serves until SIGTERM or SIGINT. */
@Command(
    name = "server",
    description = "Runs a data server in the foreground; SIGTERM stops it cleanly.")
final class ServerCommand implements Callable<Integer> {
  private static final Logger LOG = LoggerFactory.getLogger(ServerCommand.class);

  /** Exit code of a server that one of its threads has died under. */
  private static final int EXIT_DIED = 3;

  @Option(
      names = "--conf",
      paramLabel = "FILE",
      description = "Configuration file (default: TAKO_CONF, else conf/tako-site.xml).")
  private Path file;

  @Option(names = "-D", paramLabel = "key=value", description = "Overrides a configuration key.")
  private Map<String, String> overrides = new LinkedHashMap<>();

  @Option(
      names = "--uri-file",
      paramLabel = "FILE",
      description =
          "Where to write the URI once the server listens. One of a cluster serves when it has"
              + " joined: /health of its pages is 200 then.")
  private Path uriFile;

  @Option(names = "--pid-file", paramLabel = "FILE", description = "Where to write the process id.")
  private Path pidFile;

  @Option(
      names = "--format",
      description =
          "Formats an empty pool, even if there was one that is gone; refuses when there is one,"
              + " or a damaged one.")
  private boolean format;

  /**
   * The command that {@code arguments} of a command line ask for, when each of them is a simple
   * option, once and with its value: without the parser, which takes a fifth of a server's start.
   * Empty when the parser has to decide.
   */
  static Optional<ServerCommand> ofSimple(String... arguments) {
    if (arguments.length == 0 || !arguments[0].equals("server")) {
      return Optional.empty();
    }
    ServerCommand command = new ServerCommand();
    for (String argument : List.of(arguments).subList(1, arguments.length)) {
      if (!command.isSimple(argument)) {
        return Optional.empty();
      }
    }
    return Optional.of(command);
  }

  /** Takes an argument, unless the parser has to decide what it means. */
  private boolean isSimple(String argument) {
    boolean isOverride = argument.startsWith("-D");
    String[] parts = (isOverride ? argument.substring(2) : argument).split("=", 2);
    if (parts.length < 2 || parts[0].isEmpty() || parts[1].isEmpty()) {
      return false;
    }
    String value = parts[1];
    if (isOverride) {
      overrides.put(parts[0], value);
      return true;
    }
    if (parts[0].equals("--conf") && file == null) {
      file = Path.of(value);
    } else if (parts[0].equals("--uri-file") && uriFile == null) {
      uriFile = Path.of(value);
    } else if (parts[0].equals("--pid-file") && pidFile == null) {
      pidFile = Path.of(value);
    } else {
      return false;
    }
    return true;
  }

  @Override
  public Integer call() throws Exception {
    Thread.setDefaultUncaughtExceptionHandler(ServerCommand::die);
    if (pidFile != null) {
      write(pidFile, Long.toString(ProcessHandle.current().pid()));
    }
    RunningServer server =
        RunningServer.start(configuration(), System.getProperty("user.name"), format);
    Thread stop = new Thread(() -> stop(server), "tako-stop");
    Runtime.getRuntime().addShutdownHook(stop);
    if (uriFile != null) {
      write(uriFile, server.uri().toString());
    }
    System.out.println("Tako serves at " + server.uri() + " over " + server.transportText());
    System.out.flush();
    new CountDownLatch(1).await(); // The hook ends the process.
    return 0;
  }

  /**
   * A thread that serves has died of a bug or of want of memory. A server with a thread less would
   * leave clients waiting; one that is gone is started again and loses nothing.
   */
  private static void die(Thread thread, Throwable cause) {
    LOG.error("thread {} died; the server ends", thread.getName(), cause);
    Runtime.getRuntime().halt(EXIT_DIED);
  }

  /**
   * The server's configuration. An unknown key of a file is a warning, as the file may be of
   * another version; one of this very command line is a mistake.
   */
  TakoConfig configuration() throws IOException {
    TakoConfig config = Installation.configuration(file);
    for (Map.Entry<String, String> override : overrides.entrySet()) {
      config.setKnown(override.getKey(), override.getValue(), "command line");
    }
    return config;
  }

  /** Runs when the process is asked to end; a clean stop is no failure, so the code is 0. */
  private void stop(RunningServer server) {
    int code = 0;
    try {
      server.close();
      remove(uriFile);
      remove(pidFile);
      System.out.println("Tako stopped");
    } catch (IOException e) {
      System.err.println(Tako.explanation(e));
      code = 1;
    }
    System.out.flush();
    System.err.flush();
    Runtime.getRuntime().halt(code);
  }

  private static void remove(Path file) throws IOException {
    if (file != null) {
      Files.deleteIfExists(file);
    }
  }

  /**
   * A process that waits for the file finds it whole. Its first name is one that nobody can have
   * taken: in /tmp that could be a link to another file.
   */
  private static void write(Path file, String text) throws IOException {
    Path directory = file.toAbsolutePath().getParent();
    Path whole = Files.createTempFile(directory, file.getFileName() + ".", ".part");
    try {
      Files.writeString(whole, text + System.lineSeparator());
      Files.setPosixFilePermissions(whole, PosixFilePermissions.fromString("rw-r--r--"));
      Files.move(whole, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    } finally {
      Files.deleteIfExists(whole);
    }
  }
}
