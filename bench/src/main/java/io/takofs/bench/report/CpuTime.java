package io.takofs.bench.report;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * Processor time that processes had used when they were looked at, from the kernel's accounting.
 *
 * <p>The kernel tells it to the nanosecond for threads that live, and for whole processes, with the
 * threads that have ended, in ticks. Short measurements need the one and servers with a thread for
 * each connection the other, so both are read.
 */
public final class CpuTime {
  /** The tick in which the kernel reports processor time to programs, on every Linux. */
  private static final long TICK_NS = 10_000_000;

  /** Two counters of each process at both ends of an interval, each cut to whole ticks. */
  private static final long UNCERTAIN_TICKS = 2;

  private final int processes;
  private final long byThreads;
  private final long byProcess;

  private CpuTime(int processes, long byThreads, long byProcess) {
    this.processes = processes;
    this.byThreads = byThreads;
    this.byProcess = byProcess;
  }

  /** The processor time of these processes so far. */
  public static CpuTime ofProcesses(List<Long> pids) throws IOException {
    long byThreads = 0;
    long byProcess = 0;
    for (long pid : pids) {
      byThreads += ofThreads(pid);
      byProcess += ofProcess(pid);
    }
    return new CpuTime(pids.size(), byThreads, byProcess);
  }

  /** The processor time of this process so far. */
  public static CpuTime ofSelf() throws IOException {
    return ofProcesses(List.of(ProcessHandle.current().pid()));
  }

  /** Nanoseconds used since an earlier look at the same processes. */
  public long since(CpuTime earlier) {
    long threads = byThreads - earlier.byThreads;
    long process = byProcess - earlier.byProcess;
    // A larger difference than ticks explain is the time of threads that have ended.
    return process - threads > UNCERTAIN_TICKS * TICK_NS * processes ? process : threads;
  }

  private static long ofThreads(long pid) throws IOException {
    long total = 0;
    try (DirectoryStream<Path> threads = Files.newDirectoryStream(directory(pid).resolve("task"))) {
      for (Path thread : threads) {
        try {
          String schedstat = Files.readString(thread.resolve("schedstat"));
          total += Long.parseLong(schedstat.substring(0, schedstat.indexOf(' ')));
        } catch (IOException e) {
          // The thread ended between the listing and the look.
          if (Files.exists(thread)) {
            throw e;
          }
        }
      }
    }
    return total;
  }

  private static long ofProcess(long pid) throws IOException {
    String stat = Files.readString(directory(pid).resolve("stat"));
    // Behind the name, which may contain anything: state, ten other fields, utime, stime.
    String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ", -1);
    return (Long.parseLong(fields[11]) + Long.parseLong(fields[12])) * TICK_NS;
  }

  private static Path directory(long pid) {
    return Path.of("/proc", Long.toString(pid));
  }
}
