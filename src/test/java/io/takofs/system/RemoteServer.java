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
  private static final Duration START_LIMIT = Duration.ofMinutes(5);

  private static final Duration COMMAND_LIMIT = Duration.ofSeconds(20);

  private final Path directory;
  private final RemoteShell shell;
  private final URI uri;
  private final String settings;
  private int starts;

  /**
   * Not started yet.
   *
   * @param directory that both machines see
   * @param address of the other machine
   * @param keysAndValues settings beside address and pool
   */
  RemoteServer(Path directory, String address, String... keysAndValues) {
    this.directory = directory;
    this.shell = new RemoteShell(directory);
    this.uri = URI.create("tako://" + address + ":7420");
    StringBuilder words = new StringBuilder();
    words.append(" -Dfs.tako.server.host=").append(address);
    words.append(" -Dfs.tako.server.pool.path=/dev/shm/tako");
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
    return shell.run(command, COMMAND_LIMIT);
  }

  /** Starts it; again on the same pool and port. Returns when it is ready. */
  void start() throws Exception {
    String log = directory.resolve("server-" + ++starts + ".log").toString();
    shell.run(
        "rm -f /tmp/server-uri; bin/tako server"
            + settings
            + " --uri-file=/tmp/server-uri >"
            + log
            + " 2>&1 & echo $! >/tmp/server-pid;"
            + " until [ -e /tmp/server-uri ]; do kill -0 $! || exit; sleep 0.1; done",
        START_LIMIT);
  }

  /** Sends a signal by name, such as STOP or CONT. */
  void signal(String name) throws Exception {
    run("kill -" + name + " $(cat /tmp/server-pid)");
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
    run("tail --pid=$(cat /tmp/server-pid) -f /dev/null");
  }
}
