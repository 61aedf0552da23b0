package io.takofs.cli;

import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import picocli.CommandLine.Option;

/** Where {@code tako dev} keeps what it knows of its server: uri, pid, log, configuration. */
final class DevDirectory {
  @Option(
      names = "--dir",
      paramLabel = "DIR",
      description = "Directory of the local server (default: one for each user).")
  private Path directory;

  Path path() {
    return directory != null
        ? directory.toAbsolutePath()
        : Path.of(
            System.getProperty("java.io.tmpdir"), "tako-dev-" + System.getProperty("user.name"));
  }

  /** Configuration directory for Hadoop: has core-site.xml. */
  Path configuration() {
    return path().resolve("conf");
  }

  Path uriFile() {
    return path().resolve("uri");
  }

  Path pidFile() {
    return path().resolve("pid");
  }

  Path logFile() {
    return path().resolve("server.log");
  }

  /** The running server, if there is one. */
  Optional<ProcessHandle> process() throws IOException {
    if (!Files.exists(pidFile())) {
      return Optional.empty();
    }
    return ProcessHandle.of(Long.parseLong(Files.readString(pidFile()).strip()))
        .filter(ProcessHandle::isAlive);
  }

  /** Its URI; fails when none runs. */
  URI uri() throws IOException {
    if (process().isEmpty() || !Files.exists(uriFile())) {
      throw new IOException(
          "no local server runs in " + path() + ": start one with `tako dev`, or give a URI");
    }
    return URI.create(Files.readString(uriFile()).strip());
  }
}
