package io.takofs.system;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;

/**
 * Runs commands on another machine, one after the other, through a directory that both see and that
 * is no part of the network between them: {@code src/test/vm/remote-shell} takes them there.
 *
 * <p>Thread rule: one thread.
 */
final class RemoteShell {
  private static final Duration LIMIT = Duration.ofSeconds(20);
  private static final long INTERVAL_NS = Duration.ofMillis(100).toNanos();

  private final Path directory;
  private int commands;

  RemoteShell(Path directory) {
    this.directory = directory;
  }

  /** The directory that both machines see. */
  Path directory() {
    return directory;
  }

  /** Runs {@code command} in a shell, which must succeed in 20 s; returns its output. */
  String run(String command) throws Exception {
    return run(command, LIMIT);
  }

  /**
   * Runs {@code command} in a shell, which must succeed within {@code limit}; returns its output.
   */
  String run(String command, Duration limit) throws Exception {
    int number = commands++;
    Path part = directory.resolve(number + ".part");
    Files.writeString(part, command);
    Files.move(part, directory.resolve(number + ".command"), StandardCopyOption.ATOMIC_MOVE);
    Path status = directory.resolve(number + ".status");
    Poll.until(
        "the other machine has run: " + command, limit, INTERVAL_NS, () -> Files.exists(status));
    String output = Files.readString(directory.resolve(number + ".output"));
    if (!Files.readString(status).strip().equals("0")) {
      throw new IOException(
          command + " ended with " + Files.readString(status).strip() + " and said: " + output);
    }
    return output;
  }
}
