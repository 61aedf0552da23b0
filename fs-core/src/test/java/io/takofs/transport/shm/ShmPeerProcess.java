package io.takofs.transport.shm;

import io.takofs.memory.MappedMemory;
import io.takofs.transport.QueuePair;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;

/** A peer in a process of its own, to be stopped and killed. */
final class ShmPeerProcess {
  private ShmPeerProcess() {}

  /**
   * With an endpoint: writes to the peer's region until the connection ends, then exits with 0.
   * With none: listens and waits to be killed. With an endpoint and "counting": is a {@link
   * CountingWriter} over one connection after the other, prints what counted at the end of each,
   * and waits for a line before the next. With an endpoint and "deaf": is one over one connection,
   * and notices the end of its socket only after a line has come. With a file and "target": as with
   * none, and its region is that file.
   */
  public static void main(String[] args) throws IOException {
    Path directory = Path.of(args[0]);
    switch (args.length > 2 ? args[2] : "") {
      case "counting" -> writeCounting(directory, args[1]);
      case "deaf" -> writeDeaf(directory, args[1]);
      case "target" -> awaitDeath(new ShmSide(directory, target(Path.of(args[1]))));
      default -> {
        if (args.length == 1) {
          awaitDeath(new ShmSide(directory));
        } else {
          write(directory, args[1]);
        }
      }
    }
  }

  private static void awaitDeath(ShmSide opened) throws IOException {
    try (ShmSide side = opened) {
      System.out.println(side.transport.listen("", side).endpoint());
      side.pollUntil("death", () -> false);
    }
  }

  private static MappedMemory target(Path file) throws IOException {
    return MappedMemory.map(file, 0, CountingWriter.REGION);
  }

  private static void write(Path directory, String endpoint) throws IOException {
    try (ShmSide side = new ShmSide(directory)) {
      QueuePair pair = side.connect(endpoint);
      for (long i = 1; pair.state() == QueuePair.State.CONNECTED; i++) {
        side.region.buffer().putLong(0, i);
        int done = side.sends.size();
        side.write(pair, ShmSide.REGION);
        pair.ring();
        side.pollUntil("the write", () -> side.sends.size() > done);
        side.sends.clear();
      }
    }
  }

  private static void writeCounting(Path directory, String endpoint) throws IOException {
    try (ShmSide side = new ShmSide(directory, CountingWriter.REGION)) {
      do {
        try (QueuePair pair = side.connect(endpoint)) {
          CountingWriter writer = new CountingWriter(side, pair);
          writer.run();
          System.out.println(writer.report());
        }
      } while (System.in.read() == '\n');
    }
  }

  /** The control thread, which would notice, waits for a line instead. */
  private static void writeDeaf(Path directory, String endpoint) throws IOException {
    try (ShmSide side = new ShmSide(directory, CountingWriter.REGION);
        QueuePair pair = side.connect(endpoint)) {
      side.transport.control().execute(ShmPeerProcess::awaitLine);
      CountingWriter writer = new CountingWriter(side, pair);
      writer.run();
      System.out.println(writer.report());
    }
  }

  private static void awaitLine() {
    try {
      while (System.in.read() > '\n') {}
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  static Process start(Path directory, String... more) throws IOException {
    String classPath =
        System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
    String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
    List<String> command =
        new ArrayList<>(
            List.of(
                java,
                "-Xmx64m",
                "-cp",
                classPath,
                ShmPeerProcess.class.getName(),
                directory.toString()));
    command.addAll(List.of(more));
    return new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
  }

  /** Returns when no thread of the process runs any more, a while after the signal was sent. */
  static void freeze(Process process) throws IOException, InterruptedException {
    signal(process, "STOP");
    long start = System.nanoTime();
    while (!isFrozen(process)) {
      if (System.nanoTime() - start > ShmSide.TIMEOUT_NS) {
        throw new AssertionError("process " + process.pid() + " does not stand still");
      }
      LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(1));
    }
  }

  static void goOn(Process process) throws IOException, InterruptedException {
    signal(process, "CONT");
  }

  private static void signal(Process process, String signal)
      throws IOException, InterruptedException {
    new ProcessBuilder("kill", "-" + signal, String.valueOf(process.pid())).start().waitFor();
  }

  private static boolean isFrozen(Process process) throws IOException {
    try (Stream<Path> threads = Files.list(Path.of("/proc/" + process.pid() + "/task"))) {
      return threads.allMatch(ShmPeerProcess::isFrozen);
    }
  }

  private static boolean isFrozen(Path thread) {
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
