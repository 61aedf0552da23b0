package io.takofs.cli;

import io.takofs.base.Clock;
import io.takofs.base.Ownership;
import io.takofs.server.pool.Pool;
import io.takofs.server.pool.PoolMarkers;
import java.io.IOException;
import java.io.PrintWriter;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * One server of {@code tako dev}, by the files of its directory: uri, pid, log, the name of its
 * pool.
 */
record DevServer(Path directory) {
  private static final long STOP_TIMEOUT_S = 60;

  /** Directory in which the server remembers its pool. */
  Path state() {
    return directory.resolve("state");
  }

  Path uriFile() {
    return directory.resolve("uri");
  }

  Path pidFile() {
    return directory.resolve("pid");
  }

  /** The file that names the pool of the server. */
  Path poolNote() {
    return directory.resolve("pool");
  }

  Path logFile() {
    return directory.resolve("server.log");
  }

  /** The argument that names the file for the URI, and by which the server is recognized. */
  String uriFileOption() {
    return "--uri-file=" + uriFile();
  }

  /** The running process, if there is one. */
  Optional<ProcessHandle> process() throws IOException {
    if (!Files.exists(pidFile())) {
      return Optional.empty();
    }
    return ProcessHandle.of(Long.parseLong(Files.readString(pidFile()).strip()))
        .filter(ProcessHandle::isAlive)
        .filter(this::isServer);
  }

  /** Whether it is the one that was started for this directory, and not one that has its number. */
  private boolean isServer(ProcessHandle process) {
    try {
      Path proc = Path.of("/proc", Long.toString(process.pid()));
      List<String> words = List.of(Files.readString(proc.resolve("cmdline")).split("\0"));
      return Ownership.isOurs(proc) && words.contains("server") && words.contains(uriFileOption());
    } catch (IOException e) {
      return false; // it has just ended, or is another user's
    }
  }

  /** Its URI; only while it runs and is ready. */
  URI uri() throws IOException {
    return URI.create(Files.readString(uriFile()).strip());
  }

  /** Its pool's directory; empty when it has none. */
  Optional<Path> pool() throws IOException {
    return Files.exists(poolNote())
        ? Optional.of(Path.of(Files.readString(poolNote()).strip()))
        : Optional.empty();
  }

  /** A start that failed before it made the pool is no reason to refuse another. */
  void forgetUnmadePool() throws IOException {
    Optional<Path> pool = pool();
    if (pool.isPresent() && !Files.exists(pool.get())) {
      Files.delete(poolNote());
    }
  }

  /**
   * Starts it. The log of the former process is kept beside the new one, as {@code .1}.
   *
   * @param command without what this adds: where the server says its URI
   */
  Process start(List<String> command) throws IOException {
    Files.deleteIfExists(uriFile());
    if (Files.exists(logFile())) {
      Path former = logFile().resolveSibling(logFile().getFileName() + ".1");
      Files.move(logFile(), former, StandardCopyOption.REPLACE_EXISTING);
    }
    Process server =
        new ProcessBuilder(command)
            .redirectInput(ProcessBuilder.Redirect.from(Path.of("/dev/null").toFile()))
            .redirectErrorStream(true)
            .redirectOutput(logFile().toFile())
            .start();
    Files.writeString(pidFile(), server.pid() + System.lineSeparator());
    return server;
  }

  /** Whether it serves: then it has written its URI. */
  boolean isReady() {
    return Files.exists(uriFile());
  }

  /**
   * Returns while it runs.
   *
   * @throws IOException when it has ended: with its last words, and what to do where its pool is
   *     gone
   */
  void requireAlive(Process server) throws IOException {
    if (server.isAlive()) {
      return;
    }
    throw new IOException(
        "a server has ended: %s; its log: %s%s"
            .formatted(
                lastLine(),
                logFile(),
                isPoolLost()
                    ? "; if what its pool had may be lost, the same command with --format makes an empty one"
                    : ""));
  }

  /** Whether a pool that it had is not there any more. */
  boolean isPoolLost() throws IOException {
    Optional<Path> pool = pool();
    return pool.isPresent() && !Files.exists(pool.get()) && markers().has(pool.get());
  }

  private PoolMarkers markers() {
    return new PoolMarkers(state(), "", Clock.SYSTEM);
  }

  /** Returns the last line of its log, without the command's name, or says that there is none. */
  String lastLine() throws IOException {
    List<String> lines = Files.readAllLines(logFile());
    return lines.isEmpty()
        ? "it said nothing"
        : lines.get(lines.size() - 1).replaceFirst("^tako: ", "");
  }

  /** Waits until {@code server}, which was asked to end, has. */
  static void awaitEnd(ProcessHandle server) throws Exception {
    try {
      server.onExit().get(STOP_TIMEOUT_S, TimeUnit.SECONDS);
    } catch (TimeoutException e) {
      throw new IOException(
          "process " + server.pid() + " did not end in " + STOP_TIMEOUT_S + " s", e);
    }
  }

  /** Removes what a server that has ended left, and its pool unless that is to be kept. */
  void forget(boolean keepPool, PrintWriter err) throws IOException {
    Optional<Path> pool = keepPool ? Optional.empty() : pool();
    if (pool.isPresent()) {
      if (!Pool.delete(pool.get())) {
        err.println("tako: kept " + pool.get() + ": other files are in it");
      }
      markers().forget(pool.get());
      Files.delete(poolNote());
    }
    Files.deleteIfExists(pidFile());
    Files.deleteIfExists(uriFile());
  }
}
