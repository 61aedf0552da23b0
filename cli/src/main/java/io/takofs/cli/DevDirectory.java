package io.takofs.cli;

import io.takofs.base.Ownership;
import io.takofs.client.ServerUri;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import picocli.CommandLine.Option;

/**
 * The directory in which {@code tako dev} keeps the files of its server: uri, pid, log,
 * configuration.
 */
final class DevDirectory {
  @Option(
      names = "--dir",
      paramLabel = "DIR",
      description = "Directory of `tako dev`'s server (default: /tmp/tako-dev-USER).")
  private Path directory;

  /** Whether the caller named the directory. */
  boolean isNamed() {
    return directory != null;
  }

  Path path() {
    return directory != null
        ? real(directory.toAbsolutePath().normalize())
        : Path.of(
            System.getProperty("java.io.tmpdir"), "tako-dev-" + System.getProperty("user.name"));
  }

  /**
   * One name for one directory, by whatever links its user came to it; it may be missing itself.
   */
  private static Path real(Path path) {
    Path parent = path.getParent();
    try {
      return parent == null ? path : parent.toRealPath().resolve(path.getFileName());
    } catch (IOException e) {
      return path; // what is missing is said where it is used
    }
  }

  /** Configuration directory for Hadoop: has core-site.xml. */
  Path configuration() {
    return path().resolve("conf");
  }

  /** Directory in which the server remembers its pool. */
  Path state() {
    return path().resolve("state");
  }

  Path uriFile() {
    return path().resolve("uri");
  }

  Path pidFile() {
    return path().resolve("pid");
  }

  /** The file that names the pool of the server. */
  Path poolNote() {
    return path().resolve("pool");
  }

  Path logFile() {
    return path().resolve("server.log");
  }

  /**
   * Makes it, for this user alone.
   *
   * @throws IOException when it is another user's, or a symbolic link
   */
  void make() throws IOException {
    Ownership.makePrivateDirectory(path());
    Files.createDirectories(configuration());
  }

  /**
   * The running server, if there is one.
   *
   * @throws IOException when the directory is another user's, whose word would be taken for whom to
   *     talk to and whom to stop
   */
  Optional<ProcessHandle> process() throws IOException {
    if (Ownership.exists(path())) {
      Ownership.requirePrivateDirectory(path());
    }
    if (!Files.exists(pidFile())) {
      return Optional.empty();
    }
    return ProcessHandle.of(Long.parseLong(Files.readString(pidFile()).strip()))
        .filter(ProcessHandle::isAlive)
        .filter(this::isServer);
  }

  /** The argument that names the file for the URI, and by which the server is recognized. */
  String uriFileOption() {
    return "--uri-file=" + uriFile();
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

  /** Its URI; fails when none runs. */
  URI uri() throws IOException {
    if (process().isEmpty() || !Files.exists(uriFile())) {
      throw new IOException(
          "no local server runs in "
              + path()
              + ": start one with `tako dev`, or name another server by its URI or by TAKO_URI");
    }
    return URI.create(Files.readString(uriFile()).strip());
  }

  /** The server that is meant where none is named: that of --dir, of TAKO_URI, of `tako dev`. */
  URI server() throws IOException {
    if (isNamed()) {
      return uri();
    }
    Optional<URI> environment = ofEnvironment();
    return environment.isPresent() ? environment.get() : uri();
  }

  /** The server that TAKO_URI names, if it is set. */
  static Optional<URI> ofEnvironment() throws IOException {
    String environment = System.getenv("TAKO_URI");
    return environment == null ? Optional.empty() : Optional.of(ServerUri.parse(environment));
  }
}
