package io.takofs.bench.report;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** Processor time that processes have used, from the kernel's scheduler accounting. */
public final class CpuTime {
  private CpuTime() {}

  /** Nanoseconds used so far by all live threads of these processes. */
  public static long ofProcesses(List<Long> pids) throws IOException {
    long total = 0;
    for (long pid : pids) {
      total += ofProcess(pid);
    }
    return total;
  }

  /** Nanoseconds used so far by this process. */
  public static long ofSelf() throws IOException {
    return ofProcess(ProcessHandle.current().pid());
  }

  private static long ofProcess(long pid) throws IOException {
    long total = 0;
    try (DirectoryStream<Path> threads =
        Files.newDirectoryStream(Path.of("/proc", Long.toString(pid), "task"))) {
      for (Path thread : threads) {
        try {
          String schedstat = Files.readString(thread.resolve("schedstat"));
          total += Long.parseLong(schedstat.substring(0, schedstat.indexOf(' ')));
        } catch (IOException e) {
          // The thread ended between the listing and the look: its time is lost, and is small.
          if (Files.exists(thread)) {
            throw e;
          }
        }
      }
    }
    return total;
  }
}
