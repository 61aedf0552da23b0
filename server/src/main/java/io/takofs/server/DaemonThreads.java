package io.takofs.server;

import java.time.Duration;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.ThreadPoolExecutor.DiscardPolicy;
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
            task -> daemon(task, name));
    threads.allowCoreThreadTimeOut(true);
    return threads;
  }

  /**
   * One thread that runs {@code task} now, and a {@code pause} after each run; it must not throw.
   */
  static ScheduledExecutorService every(String name, Duration pause, Runnable task) {
    ScheduledThreadPoolExecutor thread =
        new ScheduledThreadPoolExecutor(1, each -> daemon(each, name), new DiscardPolicy());
    Future<?> unused =
        thread.scheduleWithFixedDelay(task, 0, pause.toNanos(), TimeUnit.NANOSECONDS);
    return thread;
  }

  private static Thread daemon(Runnable task, String name) {
    Thread thread = new Thread(task, name);
    thread.setDaemon(true);
    return thread;
  }
}
