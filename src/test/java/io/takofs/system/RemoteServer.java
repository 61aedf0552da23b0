package io.takofs.system;

import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;

/**
 * A data server on another machine, started as a user starts it, and that machine's network.
 *
 * <p>Thread rule: one thread.
 */
final class RemoteServer {
  /** A virtual machine that shares its processor with another starts a server slowly. */
  private static final Duration START_LIMIT = Duration.ofMinutes(10);

  private final RemoteShell shell;
  private final URI uri;
  private final String name;
  private final String settings;
  private int starts;

  /**
   * Not started yet.
   *
   * @param shell of the other machine
   * @param address of the other machine
   * @param port no other server's there
   * @param keysAndValues settings beside address, port and directories
   */
  RemoteServer(RemoteShell shell, String address, int port, String... keysAndValues) {
    this.shell = shell;
    this.uri = URI.create("tako://" + address + ":" + port);
    this.name = "server-" + port;
    StringBuilder words = new StringBuilder();
    words.append(" -Dfs.tako.server.host=").append(address);
    words.append(" -Dfs.tako.server.port=").append(port);
    words.append(" -Dfs.tako.server.pool.path=/dev/shm/").append(name);
    words.append(" -Dfs.tako.server.state.dir=/tmp/").append(name).append("-state");
    for (int i = 0; i < keysAndValues.length; i += 2) {
      words.append(" -D").append(keysAndValues[i]).append('=').append(keysAndValues[i + 1]);
    }
    this.settings = words.toString();
  }

  URI uri() {
    return uri;
  }

  /** Runs a command on its machine; see {@link RemoteShell#run}. */
  String run(String command) throws Exception {
    return shell.run(command);
  }

  /** Starts it; again on the same pool and port. Returns when it is ready. */
  void start() throws Exception {
    launch();
    awaitReady();
  }

  /** Starts it, and does not wait until it is ready. */
  void launch() throws Exception {
    Path log = shell.directory().resolve(name + "-" + ++starts + ".log");
    run(
        "rm -f %1$s; bin/tako server%2$s --uri-file=%1$s >%3$s 2>&1 & echo $! >%4$s"
            .formatted(uriFile(), settings, log, pidFile()));
  }

  /** Waits until it serves; fails when it has ended instead. */
  void awaitReady() throws Exception {
    shell.run(
        "until [ -e %s ]; do kill -0 $(cat %s) || exit; sleep 0.1; done"
            .formatted(uriFile(), pidFile()),
        START_LIMIT);
  }

  private String uriFile() {
    return "/tmp/" + name + "-uri";
  }

  private String pidFile() {
    return "/tmp/" + name + "-pid";
  }

  /** Sends a signal by name, such as STOP or CONT. */
  void signal(String signal) throws Exception {
    run("kill -" + signal + " $(cat " + pidFile() + ")");
  }

  /** kill -9, and waits until it is gone. */
  void kill() throws Exception {
    signal("KILL");
    awaitEnd();
  }

  /** SIGTERM, and waits until it is gone. */
  void terminate() throws Exception {
    signal("TERM");
    awaitEnd();
  }

  private void awaitEnd() throws Exception {
    run("tail --pid=$(cat " + pidFile() + ") -f /dev/null");
  }
}
