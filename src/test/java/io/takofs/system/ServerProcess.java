package io.takofs.system;

import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * A data server in a process of its own, started as a user starts it, with a pool on /dev/shm that
 * outlives its death.
 *
 * <p>Thread rule: one thread.
 */
public final class ServerProcess implements AutoCloseable {
  /** Three servers start together on one emulated processor, which may be a slow one. */
  private static final Duration START_LIMIT = Duration.ofMinutes(10);

  private static final int LAST_LINES = 200;
  private static final Path ROOT = root();

  private final Path directory;
  private final Map<String, String> settings = new LinkedHashMap<>();
  private final Map<String, String> environment = new LinkedHashMap<>();
  private final List<String> options = new ArrayList<>();
  private final List<String> before = new ArrayList<>();
  private Process process;
  private URI uri;
  private int starts;

  private ServerProcess(Path directory) {
    this.directory = directory;
  }

  /** Starts a server on a free port with a small fresh pool and these settings besides. */
  public static ServerProcess start(String... keysAndValues) throws Exception {
    return startWith(Map.of(), List.of(), keysAndValues);
  }

  /** Starts one with these environment variables and options of its command, too. */
  static ServerProcess startWith(
      Map<String, String> environment, List<String> options, String... keysAndValues)
      throws Exception {
    return start(List.of(), environment, options, keysAndValues);
  }

  /**
   * Starts one as if on another machine.
   *
   * @param before words of a command that becomes the one after it, as {@code exec} does
   */
  static ServerProcess startBehind(List<String> before, String... keysAndValues) throws Exception {
    return start(before, Map.of(), List.of(), keysAndValues);
  }

  private static ServerProcess start(
      List<String> before,
      Map<String, String> environment,
      List<String> options,
      String... keysAndValues)
      throws Exception {
    ServerProcess server =
        new ServerProcess(Files.createTempDirectory(Path.of("/dev/shm"), "tako-test-"));
    server.before.addAll(before);
    server.environment.putAll(environment);
    server.options.addAll(options);
    server.settings.put("fs.tako.server.host", ServerAddress.host());
    // A restart comes back at the same place, as a service does.
    String port = ServerAddress.freePorts(1).get(0).toString();
    server.settings.put("fs.tako.server.port", port);
    server.settings.put("fs.tako.server.pool.path", server.directory.resolve("pool").toString());
    server.settings.put("fs.tako.server.state.dir", server.directory.resolve("state").toString());
    server.settings.put("fs.tako.server.pool.size", "160m");
    server.settings.put("fs.tako.server.pool.pages.size", "32m");
    server.settings.put("fs.tako.server.pool.log.size", "64m");
    for (int i = 0; i < keysAndValues.length; i += 2) {
      server.settings.put(keysAndValues[i], keysAndValues[i + 1]);
    }
    server.launch();
    return server;
  }

  /** The URI by which clients find it. */
  public URI uri() {
    return uri;
  }

  /** The value of a key that it was started with. */
  String setting(String key) {
    return settings.get(key);
  }

  /** The directory of its pool. */
  Path pool() {
    return directory.resolve("pool");
  }

  /** The directory of what it keeps on a disk. */
  Path state() {
    return directory.resolve("state");
  }

  /** Takes away what a server that was killed keeps of the catalog, its copy apart. */
  void loseCatalog() throws IOException {
    removeTree(state().resolve("catalog-" + uri.getPort()));
  }

  /** Its process id. */
  public long pid() {
    return process.pid();
  }

  /** Everything it has printed since its last start. */
  public String log() throws IOException {
    return Files.readString(logFile());
  }

  /** What it printed last, of each of its last three starts; for a test that failed. */
  String lastWords() throws IOException {
    StringBuilder words = new StringBuilder();
    for (int start = Math.max(1, starts - 2); start <= starts; start++) {
      Path file = directory.resolve("server-" + start + ".log");
      List<String> lines = Files.readAllLines(file);
      words.append("---- ").append(file).append('\n');
      lines.stream()
          .skip(Math.max(0, lines.size() - LAST_LINES))
          .forEach(line -> words.append(line).append('\n'));
    }
    return words.toString();
  }

  /** kill -9, and waits until it is gone. */
  public void kill() throws Exception {
    process.destroyForcibly().waitFor();
  }

  /** Starts it again on the same pool and port. */
  public void restart() throws Exception {
    launch();
  }

  /** Starts it again with this option of its command, this once. */
  void restartWith(String option) throws Exception {
    options.add(option);
    launch();
    options.remove(option);
  }

  /** Takes the pool of a server that was killed away, as a machine that is lost does. */
  void losePool() throws IOException {
    removeTree(pool());
    removeTree(state());
  }

  /** SIGTERM; returns its exit code. */
  public int terminate() throws Exception {
    process.destroy();
    return process.waitFor();
  }

  /** Sends a signal by name, such as STOP or CONT. */
  public void signal(String name) throws Exception {
    Signals.send(process.pid(), name);
  }

  /** The command line, bin/tako. */
  public static String launcher() {
    return ROOT.resolve("bin/tako").toString();
  }

  /**
   * The output of a server that does not start.
   *
   * @param exitCode of the process
   * @param output all it printed
   */
  public record Refusal(int exitCode, String output) {}

  /**
   * Tries to start a server with {@code key=value} settings that it must refuse.
   *
   * @param launcher words before the command
   */
  public static Refusal refusal(List<String> launcher, String... settings) throws Exception {
    List<String> command = new ArrayList<>(launcher);
    command.addAll(List.of(launcher(), "server"));
    command.add("-Dfs.tako.server.port=0");
    for (String setting : settings) {
      command.add("-D" + setting);
    }
    ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
    // It ends while it starts: to optimize what it runs would take half of that.
    builder.environment().put("TAKO_SERVER_OPTS", "-XX:TieredStopAtLevel=1");
    Process process = builder.start();
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    return new Refusal(process.waitFor(), output);
  }

  @Override
  public void close() throws IOException {
    process.destroyForcibly().onExit().join();
    removeTree(directory);
  }

  private static void removeTree(Path root) throws IOException {
    if (!Files.exists(root)) {
      return;
    }
    try (Stream<Path> tree = Files.walk(root)) {
      for (Path path : tree.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(path);
      }
    }
  }

  private Path logFile() {
    return directory.resolve("server-" + starts + ".log");
  }

  private void launch() throws Exception {
    starts++;
    Path uriFile = directory.resolve("uri");
    Files.deleteIfExists(uriFile);
    List<String> command = new ArrayList<>(before);
    command.add(launcher());
    command.add("server");
    settings.forEach((key, value) -> command.add("-D" + key + "=" + value));
    command.add("--uri-file=" + uriFile);
    command.addAll(options);
    ProcessBuilder builder =
        new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(logFile().toFile());
    builder.environment().putAll(environment);
    process = builder.start();
    Poll.until(
        "the server is ready; its log:\n" + logFile(),
        START_LIMIT,
        () -> {
          if (!process.isAlive() && !Files.exists(uriFile)) {
            throw new IOException("the server ended at once: " + log());
          }
          return Files.exists(uriFile);
        });
    uri = URI.create(Files.readString(uriFile).strip());
  }

  private static Path root() {
    Path path = Path.of("").toAbsolutePath();
    while (!Files.isExecutable(path.resolve("bin/tako"))) {
      path = path.getParent();
    }
    return path;
  }
}
