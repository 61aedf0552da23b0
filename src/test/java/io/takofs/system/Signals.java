package io.takofs.system;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.stream.Stream;

/**
 * Signals to processes.
 *
 * <p>Thread rule: any thread.
 */
final class Signals {
  private Signals() {}

  /**
   * Sends a signal by name, such as STOP or CONT; returns from STOP when no thread of the process
   * runs any more, which takes a while where processors are scarce.
   */
  static void send(long pid, String name) throws Exception {
    int code =
        new ProcessBuilder("kill", "-" + name, Long.toString(pid)).inheritIO().start().waitFor();
    if (code != 0) {
      throw new IOException("kill -" + name + " ended with " + code);
    }
    if (name.equals("STOP")) {
      Poll.until("process " + pid + " stands still", Duration.ofSeconds(30), () -> isStopped(pid));
    }
  }

  private static boolean isStopped(long pid) throws IOException {
    try (Stream<Path> threads = Files.list(Path.of("/proc/" + pid + "/task"))) {
      return threads.allMatch(Signals::isStopped);
    }
  }

  private static boolean isStopped(Path thread) {
    try {
      String stat = Files.readString(thread.resolve("stat"));
      // After the name, which is in parentheses and may have any character.
      return stat.charAt(stat.lastIndexOf(')') + 2) == 'T';
    } catch (NoSuchFileException e) {
      return true; // it has ended
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
