package io.takofs.transport;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.Closeable;
import java.io.FileInputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;

/** Leaves this process no file descriptor until it is closed. */
public final class FileDescriptors implements Closeable {
  /** Opens in advance the files that the JVM itself may open meanwhile. */
  private static final int MORE = 64;

  private static final int COUNT_MAX = 4096;

  private final Deque<FileInputStream> taken = new ArrayDeque<>();
  private final String limitBefore;

  private FileDescriptors() throws IOException {
    limitBefore = run("prlimit", "--pid", pid(), "--nofile", "--output", "SOFT", "--noheadings");
    setLimit(Integer.toString(open() + MORE));
  }

  /** Takes all there are. */
  public static FileDescriptors exhaust() throws IOException {
    FileDescriptors descriptors = new FileDescriptors();
    try {
      while (descriptors.taken.size() < COUNT_MAX) {
        descriptors.taken.push(new FileInputStream("/dev/null"));
      }
    } catch (IOException e) {
      return descriptors;
    }
    descriptors.close();
    throw new IOException("the limit of open files does not hold");
  }

  private static int open() throws IOException {
    try (Stream<Path> files = Files.list(Path.of("/proc/self/fd"))) {
      return (int) files.count();
    }
  }

  private static String pid() {
    return Long.toString(ProcessHandle.current().pid());
  }

  private static void setLimit(String soft) throws IOException {
    run("prlimit", "--pid", pid(), "--nofile=" + soft + ":");
  }

  private static String run(String... command) throws IOException {
    Process process;
    try {
      process = new ProcessBuilder(command).redirectErrorStream(true).start();
    } catch (IOException e) {
      Assumptions.abort("needs prlimit of util-linux: " + e.getMessage());
      throw e;
    }
    String output = new String(process.getInputStream().readAllBytes(), UTF_8).strip();
    try {
      if (process.waitFor() != 0) {
        throw new IOException(String.join(" ", command) + ": " + output);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException(e);
    }
    return output;
  }

  @Override
  public void close() throws IOException {
    while (!taken.isEmpty()) {
      taken.pop().close();
    }
    setLimit(limitBefore);
  }
}
