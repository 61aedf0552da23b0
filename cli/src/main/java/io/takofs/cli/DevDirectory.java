package io.takofs.cli;

import io.takofs.base.Ownership;
import java.io.IOException;
import java.net.URI;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import picocli.CommandLine.Option;

/**
 * The directory in which {@code tako dev} keeps the files of its servers, and the configuration for
 * their clients.
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

  /** Configuration of the servers: their cluster, the size of their pools, what the user added. */
  Path site() {
    return configuration().resolve("tako-site.xml");
  }

  /**
   * Finds the file of {@link #site}, when the servers are a cluster.
   *
   * @throws IOException when the directory is another user's
   */
  Optional<Path> clusterSite() throws IOException {
    check();
    return Optional.of(site()).filter(file -> Files.exists(addresses()) && Files.exists(file));
  }

  /** The servers' addresses, a line each, when there are several: they keep them. */
  Path addresses() {
    return path().resolve("servers");
  }

  /** The parts of the cluster's catalog that its servers keep, and their copies of it. */
  List<Path> catalogs() throws IOException {
    List<Path> catalogs = new ArrayList<>();
    for (DevServer server : servers()) {
      if (Files.exists(server.state())) {
        try (DirectoryStream<Path> found = Files.newDirectoryStream(server.state(), "catalog-*")) {
          found.forEach(catalogs::add);
        }
      }
    }
    return catalogs;
  }

  /** The first server; the only one, mostly. */
  DevServer first() {
    return new DevServer(path());
  }

  /** All servers, the first one first. */
  List<DevServer> servers() throws IOException {
    int count = Files.exists(addresses()) ? Files.readAllLines(addresses()).size() : 1;
    return servers(count);
  }

  /** The first {@code count} of the servers that there can be. */
  List<DevServer> servers(int count) {
    List<DevServer> servers = new ArrayList<>(List.of(first()));
    for (int number = 2; number <= count; number++) {
      servers.add(new DevServer(path().resolve("server-" + number)));
    }
    return servers;
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
   * The servers that run.
   *
   * @throws IOException when the directory is another user's, whose word would be taken for whom to
   *     talk to and whom to stop
   */
  List<ProcessHandle> processes() throws IOException {
    check();
    List<ProcessHandle> running = new ArrayList<>();
    for (DevServer server : servers()) {
      server.process().ifPresent(running::add);
    }
    return running;
  }

  private void check() throws IOException {
    if (Ownership.exists(path())) {
      Ownership.requirePrivateDirectory(path());
    }
  }

  /** The URI of the first server that runs: any will do; fails when none does. */
  URI uri() throws IOException {
    check();
    for (DevServer server : servers()) {
      if (server.process().isPresent() && Files.exists(server.uriFile())) {
        return server.uri();
      }
    }
    throw new IOException(
        "no local server runs in "
            + path()
            + ": start one with `tako dev"
            + (isNamed() ? " --dir " + path() : "")
            + "`, or name another server by its URI or by TAKO_URI");
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
    return environment == null ? Optional.empty() : Optional.of(Installation.uri(environment));
  }
}
