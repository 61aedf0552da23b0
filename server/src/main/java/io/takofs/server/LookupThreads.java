package io.takofs.server;

import java.util.concurrent.ExecutorService;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * Threads that ask for the groups of users. Each may have a process under way, and anybody may name
 * any user, so there are few of them: what comes beyond waits, and its caller's deadline runs.
 */
final class LookupThreads {
  static final int THREADS_MAX = 4;

  /** Calls that wait at most; further ones are rejected. */
  private static final int WAITING_MAX = 4096;

  private static final long IDLE_S = 60;

  private LookupThreads() {}

  static ExecutorService create() {
    ThreadPoolExecutor threads =
        new ThreadPoolExecutor(
            THREADS_MAX,
            THREADS_MAX,
            IDLE_S,
            TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(WAITING_MAX),
            LookupThreads::daemon);
    threads.allowCoreThreadTimeOut(true);
    return threads;
  }

  private static Thread daemon(Runnable task) {
    Thread thread = new Thread(task, "tako-groups");
    thread.setDaemon(true);
    return thread;
  }
}
