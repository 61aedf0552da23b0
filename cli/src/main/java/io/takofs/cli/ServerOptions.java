package io.takofs.cli;

import io.takofs.client.ServerUri;
import io.takofs.client.TakoClient;
import java.io.IOException;
import java.net.URI;
import java.util.Optional;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Selects the server of a command: that of a path's URI, of --fs, or of {@code tako dev}. */
final class ServerOptions {
  private static final String SCHEME = ServerUri.SCHEME + "://";

  @Mixin private final DevDirectory dev = new DevDirectory();

  @Option(
      names = "--fs",
      paramLabel = "URI",
      description =
          "File system of paths without one (default: that of --dir, else TAKO_URI, else `tako"
              + " dev`'s).")
  private String fileSystem;

  @Option(
      names = "--user",
      paramLabel = "NAME",
      description = "User to act as (default: the login name).")
  private String user = System.getProperty("user.name");

  /** The server that {@code text}, a URI with a path or a path alone, belongs to. */
  URI server(String text) throws IOException {
    if (text != null && text.contains("://")) {
      return Installation.uri(text);
    }
    if (fileSystem != null) {
      return Installation.uri(fileSystem);
    }
    return dev.server();
  }

  /** The server that {@code uri} names; that of paths that name none when it is null. */
  URI serverOf(String uri) throws IOException {
    return uri == null ? server(null) : Installation.uri(uri);
  }

  /**
   * The server of paths that name none.
   *
   * @param other one to take when there is none
   */
  URI defaultServer(Optional<String> other) throws IOException {
    boolean none =
        fileSystem == null
            && !dev.isNamed()
            && DevDirectory.ofEnvironment().isEmpty()
            && dev.processes().isEmpty();
    return server(none ? other.orElse(null) : null);
  }

  /** The user that calls. */
  String user() {
    return user;
  }

  /** A client of that server. */
  TakoClient client(URI server) throws IOException {
    return TakoClient.connect(server, Installation.configuration(), user);
  }

  /** The path part of {@code text}, absolute, without an ending slash. */
  static String path(String text) throws IOException {
    String path = text;
    if (text.startsWith(SCHEME)) {
      int slash = text.indexOf('/', SCHEME.length());
      path = slash < 0 ? "/" : text.substring(slash);
    }
    if (!path.startsWith("/")) {
      throw new IOException(
          "'" + text + "' is not a path of Tako: write /a/b or tako://host:port/a/b");
    }
    path = path.replaceAll("/+", "/");
    return path.length() > 1 && path.endsWith("/") ? path.substring(0, path.length() - 1) : path;
  }
}
