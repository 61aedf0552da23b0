package io.takofs.bench.hadoop;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.hadoop.conf.Configuration;

/**
 * Daemons of Hadoop that run from this JVM's class path. Their configuration, data and logs are in
 * one directory. They are ended at {@link #close} and whenever this JVM ends, by a signal too.
 *
 * <p>Thread rule: one thread, and that of the JVM's end.
 */
final class HadoopDaemons implements AutoCloseable {
  private static final long START_TIMEOUT_NS = TimeUnit.SECONDS.toNanos(120);
  private static final long END_TIMEOUT_S = 30;
  private static final int LOG_TAIL_LINES = 30;
  private static final int LOG_LINES_MAX = 300;
  private static final Pattern EXCEPTION =
      Pattern.compile("^[\\w.$]+(Exception|Error)\\b|^Caused by: |^\\s+at |^\\s+\\.\\.\\. ");

  private final Path directory;
  private final List<String> launcher;
  private final List<Process> processes = new CopyOnWriteArrayList<>();
  private final Thread ender = new Thread(this::endAll);
  private boolean ending; // guarded by this

  /** Asks whether daemons do their work by now; an IOException says no. */
  public interface Probe {
    boolean isReady() throws Exception;
  }

  /**
   * Starts none yet.
   *
   * @param directory an empty or missing directory; removed at the end
   * @param launcher words before each java command, such as a processor placement
   */
  public HadoopDaemons(Path directory, List<String> launcher) throws IOException {
    this.directory = directory;
    this.launcher = launcher;
    Files.createDirectories(configuration());
    Runtime.getRuntime().addShutdownHook(ender);
  }

  /** The directory first on their class paths. */
  Path configuration() {
    return directory.resolve("conf");
  }

  /** Writes a configuration file of theirs. */
  void configure(Configuration site, String name) throws IOException {
    try (OutputStream out = Files.newOutputStream(configuration().resolve(name))) {
      site.writeXml(out);
    }
  }

  /** Runs a program to its end, which must be a good one. */
  void run(String name, String mainClass, String... arguments) throws Exception {
    Process program = launch(name, mainClass, arguments);
    int code = program.waitFor();
    processes.remove(program);
    if (code != 0) {
      throw new IOException(name + " failed; its log ends with: " + logTails());
    }
  }

  /** Starts a daemon; its log is {@code name.log}. */
  Process start(String name, String mainClass, String... arguments) throws IOException {
    return launch(name, mainClass, arguments);
  }

  /** Ends one of those that were started. */
  void stop(Process daemon) {
    processes.remove(daemon);
    end(List.of(daemon));
  }

  /** Process ids in the order of their start. */
  List<Long> pids() {
    return processes.stream().map(Process::pid).toList();
  }

  /**
   * Waits until {@code probe} says that they work, or one has ended, or they have had their time.
   */
  void await(String what, Probe probe) throws Exception {
    long start = System.nanoTime();
    while (true) {
      if (!processes.stream().allMatch(Process::isAlive)) {
        throw new IOException("a daemon of " + what + " ended; the logs end with: " + logTails());
      }
      IOException reason = null;
      try {
        if (probe.isReady()) {
          return;
        }
      } catch (IOException e) {
        reason = e;
      }
      if (System.nanoTime() - start > START_TIMEOUT_NS) {
        throw new IOException(
            what + " was not ready in time; the logs end with: " + logTails(), reason);
      }
      Thread.sleep(200);
    }
  }

  @Override
  public void close() throws IOException {
    endAll();
    Runtime.getRuntime().removeShutdownHook(ender);
    try (Stream<Path> tree = Files.walk(directory)) {
      for (Path path : tree.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(path);
      }
    }
  }

  /** Ends them; from then on none is started, which the JVM's end would leave behind. */
  private void endAll() {
    synchronized (this) {
      ending = true;
    }
    end(processes);
  }

  /** Asks them to end, the last first, and kills what has not, with whatever they had started. */
  private static void end(List<Process> processes) {
    List<ProcessHandle> all = new ArrayList<>();
    for (Process process : processes) {
      process.descendants().forEach(all::add);
      all.add(process.toHandle());
    }
    for (int i = processes.size() - 1; i >= 0; i--) {
      Process process = processes.get(i);
      process.destroy();
      try {
        if (!process.waitFor(END_TIMEOUT_S, TimeUnit.SECONDS)) {
          System.err.println(
              "a daemon is killed, because it has not ended in " + END_TIMEOUT_S + " s");
        }
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }
    all.forEach(ProcessHandle::destroyForcibly);
    all.forEach(handle -> handle.onExit().join());
  }

  private synchronized Process launch(String name, String mainClass, String... arguments)
      throws IOException {
    if (ending) {
      throw new IOException(name + " is not started: the daemons are being ended");
    }
    String javaHome = System.getProperty("java.home");
    List<String> command = new ArrayList<>(launcher);
    command.add(Path.of(javaHome, "bin", "java").toString());
    // Hadoop 3.4 reaches into these on JDK 17.
    for (String opened : List.of("java.lang", "java.util", "java.util.concurrent", "java.net")) {
      command.add("--add-opens=java.base/" + opened + "=ALL-UNNAMED");
    }
    command.add("-Xmx1g");
    command.add("-Dhadoop.log.dir=" + directory);
    command.add("-Dyarn.log.dir=" + directory);
    command.add("-cp");
    command.add(configuration() + ":" + System.getProperty("java.class.path"));
    command.add(mainClass);
    command.addAll(List.of(arguments));
    ProcessBuilder builder = new ProcessBuilder(command);
    builder.environment().put("JAVA_HOME", javaHome);
    builder.environment().put("HADOOP_CONF_DIR", configuration().toString());
    Process process =
        builder
            .redirectErrorStream(true)
            .redirectOutput(directory.resolve(name + ".log").toFile())
            .start();
    processes.add(process);
    return process;
  }

  /** Returns what each log says of exceptions, and its last lines, after the log's name. */
  String logTails() throws IOException {
    StringBuilder tails = new StringBuilder();
    try (DirectoryStream<Path> logs = Files.newDirectoryStream(directory, "*.log")) {
      for (Path log : logs) {
        List<String> lines = Files.readAllLines(log);
        int tail = Math.max(0, lines.size() - LOG_TAIL_LINES);
        List<Integer> shown =
            IntStream.range(0, lines.size())
                .filter(i -> i >= tail || isOfException(lines, i))
                .boxed()
                .toList();
        tails.append('\n').append(log.getFileName()).append(":\n");
        shown.stream()
            .skip(Math.max(0, shown.size() - LOG_LINES_MAX))
            .forEach(i -> tails.append(lines.get(i)).append('\n'));
      }
    }
    return tails.toString();
  }

  /** Whether a line names an exception, is of its stack, or says what was done when it came. */
  private static boolean isOfException(List<String> lines, int i) {
    return EXCEPTION.matcher(lines.get(i)).find()
        || (i + 1 < lines.size() && EXCEPTION.matcher(lines.get(i + 1)).find());
  }
}
