package io.takofs.cli;

import io.takofs.base.Clock;
import io.takofs.client.TakoClient;
import io.takofs.config.Units;
import io.takofs.layout.Layout;
import io.takofs.server.pool.Pool;
import io.takofs.server.pool.PoolMarkers;
import io.takofs.server.report.Sizes;
import java.io.IOException;
import java.io.PrintWriter;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code tako dev}: a data server on a free port of this machine, in the background. */
@Command(
    name = "dev",
    description = "Starts a local data server and says how to use it.",
    subcommands = DevCommand.Stop.class)
final class DevCommand implements Callable<Integer> {
  private static final long START_TIMEOUT_NS = TimeUnit.SECONDS.toNanos(120);
  private static final long STOP_TIMEOUT_S = 60;
  private static final String POOL_SIZE = "1g";

  @Spec private CommandSpec spec;

  @Mixin private DevDirectory dev;

  @Option(
      names = "--pool-size",
      paramLabel = "SIZE",
      description =
          "Size of a new pool: about an eighth is for metadata and log, the rest for file data"
              + " (default: "
              + POOL_SIZE
              + "). A pool that exists keeps its size.")
  private String poolSize;

  @Option(
      names = "--pool",
      paramLabel = "DIR",
      description = "Directory of the pool (default: on /dev/shm).")
  private Path pool;

  @Override
  public Integer call() throws Exception {
    requirePoolSize();
    if (dev.process().isPresent()) {
      spec.commandLine().getOut().println("already running:");
      return describe();
    }
    dev.make();
    Files.deleteIfExists(dev.uriFile());
    Process server = start();
    Files.writeString(dev.pidFile(), server.pid() + System.lineSeparator());
    await(server);
    Files.writeString(dev.configuration().resolve("core-site.xml"), CoreSite.xml(dev.uri()));
    return describe();
  }

  private void requirePoolSize() {
    try {
      Units.parseSize(poolSize == null ? POOL_SIZE : poolSize);
    } catch (IllegalArgumentException e) {
      throw new ParameterException(
          spec.commandLine(), "--pool-size " + poolSize + ": " + e.getMessage());
    }
  }

  /** Says that the pool is of another size than the caller asked for, if it is. */
  private void describePoolSize(PrintWriter out) throws IOException {
    if (poolSize == null) {
      return;
    }
    Path path = Path.of(Files.readString(dev.poolNote()).strip());
    long size = Pool.size(path);
    long missing = Units.parseSize(poolSize) - size;
    if (missing < 0 || missing >= Layout.POOL_ALIGN) { // sizes are rounded down
      out.printf(
          "pool            %s has %s and keeps that size, whatever --pool-size says: a new one is"
              + " made after `%s dev stop`, which deletes it and its files%n",
          path, Sizes.human(size), Installation.command());
    }
  }

  /** The pool of this directory's server. */
  private Path poolPath() {
    return pool != null
        ? pool.toAbsolutePath()
        : Path.of("/dev/shm", "tako-dev-" + Integer.toHexString(dev.path().hashCode()));
  }

  private Process start() throws IOException {
    Path poolPath = poolPath();
    Files.writeString(dev.poolNote(), poolPath + System.lineSeparator());
    List<String> command = new ArrayList<>();
    command.add(Installation.home().resolve("bin").resolve("tako").toString());
    command.add("server");
    command.add("-Dfs.tako.server.port=0");
    command.add("-Dfs.tako.server.http.user=" + System.getProperty("user.name"));
    command.add("-Dfs.tako.server.pool.path=" + poolPath);
    command.add("-Dfs.tako.server.pool.size=" + (poolSize == null ? POOL_SIZE : poolSize));
    command.add("-Dfs.tako.server.state.dir=" + dev.state());
    command.add(dev.uriFileOption());
    return new ProcessBuilder(command)
        .redirectInput(ProcessBuilder.Redirect.from(Path.of("/dev/null").toFile()))
        .redirectErrorStream(true)
        .redirectOutput(dev.logFile().toFile())
        .start();
  }

  /** The server writes its URI when it serves. */
  private void await(Process server) throws Exception {
    long start = System.nanoTime();
    while (!Files.exists(dev.uriFile())) {
      if (server.waitFor(50, TimeUnit.MILLISECONDS)) {
        throw new IOException("the server ended at once: " + lastLine());
      }
      if (System.nanoTime() - start > START_TIMEOUT_NS) {
        server.destroy();
        throw new IOException("the server was not ready in time; its log: " + dev.logFile());
      }
    }
  }

  private String lastLine() throws IOException {
    List<String> lines = Files.readAllLines(dev.logFile());
    return lines.isEmpty() ? "it said nothing" : lines.get(lines.size() - 1);
  }

  private int describe() throws IOException {
    URI uri = dev.uri();
    var out = spec.commandLine().getOut();
    out.println("Tako serves at  " + uri);
    out.println("configuration   export HADOOP_CONF_DIR=" + quoted(dev.configuration()));
    out.println("transport       " + TransportVerdict.verdict(uri));
    String pages = pages(uri);
    if (!pages.isEmpty()) {
      out.println("pages           " + pages);
    }
    describePoolSize(out);
    out.println("log             " + dev.logFile());
    String tako = quoted(Installation.command());
    out.println("try             " + tako + " fs -ls " + uri + "/");
    out.println("stop            " + tako + " dev stop --dir " + quoted(dev.path()));
    out.flush();
    return 0;
  }

  /** A word as a shell takes it, in quotes when it has what a shell would not take for itself. */
  private static String quoted(Object word) {
    String text = word.toString();
    return text.matches("[\\w/.:=@%+,-]+") ? text : "'" + text.replace("'", "'\\''") + "'";
  }

  private static String pages(URI server) throws IOException {
    try (TakoClient client =
        TakoClient.connect(server, Installation.configuration(), System.getProperty("user.name"))) {
      return client.serverStatus().getHttp();
    }
  }

  /** {@code tako dev stop}: ends it and removes its pool. */
  @Command(
      name = "stop",
      description = "Stops the local data server and removes its pool, files and all.")
  static final class Stop implements Callable<Integer> {
    @Spec private CommandSpec spec;

    @Mixin private DevDirectory dev;

    @Option(names = "--keep-pool", description = "Keep the pool for the next start.")
    private boolean keepPool;

    @Override
    public Integer call() throws Exception {
      Optional<ProcessHandle> server = dev.process();
      if (server.isPresent()) {
        server.get().destroy();
        try {
          server.get().onExit().get(STOP_TIMEOUT_S, TimeUnit.SECONDS);
        } catch (java.util.concurrent.TimeoutException e) {
          throw new IOException(
              "process " + server.get().pid() + " did not end in " + STOP_TIMEOUT_S + " s", e);
        }
      }
      Path poolNote = dev.poolNote();
      if (!keepPool && Files.exists(poolNote)) {
        Path pool = Path.of(Files.readString(poolNote).strip());
        if (!Pool.delete(pool)) {
          spec.commandLine().getErr().println("tako: kept " + pool + ": other files are in it");
        }
        new PoolMarkers(dev.state(), "", Clock.SYSTEM).forget(pool);
        Files.delete(poolNote);
      }
      Files.deleteIfExists(dev.pidFile());
      Files.deleteIfExists(dev.uriFile());
      spec.commandLine()
          .getOut()
          .println(server.isPresent() ? "stopped" : "no local server runs in " + dev.path());
      return 0;
    }
  }
}
