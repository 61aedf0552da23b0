package io.takofs.server;

import java.util.concurrent.ExecutorService;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/** Threads that keep no process alive, and end when there is nothing to do. */
public final class DaemonThreads {
  private static final long IDLE_S = 60;

  private DaemonThreads() {}

  /**
   * @param max threads; what comes beyond waits
   * @param waitingMax tasks that wait at most; further ones are rejected
   */
  public static ExecutorService create(String name, int max, int waitingMax) {
    ThreadPoolExecutor threads =
        new ThreadPoolExecutor(
            max,
            max,
            IDLE_S,
            TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(waitingMax),
            task -> {
              Thread thread = new Thread(task, name);
              thread.setDaemon(true);
              return thread;
            });
    threads.allowCoreThreadTimeOut(true);
    return threads;
  }
}
