package io.takofs.transport.shm;

import io.takofs.base.Undo;
import java.io.IOException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ClosedSelectorException;
import java.nio.channels.SelectableChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.util.PriorityQueue;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The transport's one thread: it accepts connections, notices when a peer's socket ends, and calls
 * the acceptor. No data passes through it.
 *
 * <p>Thread rule: any thread may execute, watch and close; handlers run on the loop's thread.
 */
final class ControlLoop implements Executor, AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(ControlLoop.class);

  private final Selector selector;
  private final Thread thread;
  private final Queue<Runnable> tasks = new ConcurrentLinkedQueue<>();
  private final PriorityQueue<Timer> timers = new PriorityQueue<>(); // the loop's thread only
  private volatile boolean stopped;

  private record Timer(long atNs, Runnable task) implements Comparable<Timer> {
    @Override
    public int compareTo(Timer other) {
      return Long.signum(atNs - other.atNs);
    }
  }

  ControlLoop() throws IOException {
    try (Undo undo = new Undo()) {
      selector = undo.add(Selector.open());
      thread = new Thread(this::run, "tako-shm-control");
      thread.setDaemon(true);
      thread.start();
      undo.keep();
    }
  }

  /** Runs {@code task} on the loop's thread; on the caller's when the loop has ended. */
  @Override
  public void execute(Runnable task) {
    tasks.add(task);
    if (stopped) {
      runTasks();
    } else {
      selector.wakeup();
    }
  }

  /** Runs {@code task} on the loop's thread after {@code delayNs}, unless the loop ends before. */
  void executeAfter(long delayNs, Runnable task) {
    long atNs = System.nanoTime() + delayNs;
    execute(() -> timers.add(new Timer(atNs, task)));
  }

  /**
   * Runs {@code handler} whenever {@code channel} is ready for {@code operations}. The loop closes
   * the channel when it ends, so that the peer of a connection that is being made waits no longer.
   */
  void watch(SelectableChannel channel, int operations, Runnable handler) {
    execute(
        () -> {
          try {
            channel.register(selector, operations, handler);
          } catch (ClosedChannelException e) {
            LOG.debug("a channel was closed before it could be watched");
          } catch (ClosedSelectorException e) {
            close(channel);
          }
        });
  }

  /**
   * Does not run the handler of {@code channel}, which is being watched, for {@code delayNs}; on
   * the loop's thread.
   */
  void pause(SelectableChannel channel, long delayNs) {
    SelectionKey key = channel.keyFor(selector);
    if (key == null || !key.isValid()) {
      return; // it was closed
    }
    int operations = key.interestOps();
    key.interestOps(0);
    executeAfter(
        delayNs,
        () -> {
          if (key.isValid()) {
            key.interestOps(operations);
          }
        });
  }

  private void run() {
    while (!stopped) {
      try {
        selector.select(millisToTimer());
      } catch (IOException e) {
        LOG.error("the control thread cannot wait for its sockets; connections end with it", e);
        stopped = true;
      }
      runTasks();
      runTimers();
      selector.selectedKeys().forEach(this::dispatch);
      selector.selectedKeys().clear();
    }
    runTasks();
    selector.keys().forEach(key -> close(key.channel()));
    try {
      selector.close();
    } catch (IOException e) {
      LOG.warn("closing the control thread's selector", e);
    }
  }

  private static void close(SelectableChannel channel) {
    try {
      channel.close();
    } catch (IOException e) {
      LOG.warn("closing a socket of the control thread", e);
    }
  }

  private long millisToTimer() {
    if (timers.isEmpty()) {
      return 0; // until woken
    }
    long leftNs = timers.peek().atNs() - System.nanoTime();
    return Math.max(1, TimeUnit.NANOSECONDS.toMillis(leftNs) + 1);
  }

  private void runTimers() {
    while (!timers.isEmpty() && timers.peek().atNs() - System.nanoTime() <= 0) {
      guarded(timers.remove().task());
    }
  }

  private void runTasks() {
    for (Runnable task = tasks.poll(); task != null; task = tasks.poll()) {
      guarded(task);
    }
  }

  private void dispatch(SelectionKey key) {
    if (key.isValid()) {
      guarded((Runnable) key.attachment());
    }
  }

  /** One connection's bug, or what it finds no memory for, must not end the others. */
  private static void guarded(Runnable task) {
    try {
      task.run();
    } catch (RuntimeException | Error e) {
      LOG.error("a task of the control thread failed", e);
    }
  }

  /** Ends the thread after the tasks that were given to it so far. */
  @Override
  public void close() {
    stopped = true;
    selector.wakeup();
    if (Thread.currentThread() == thread) {
      return;
    }
    try {
      thread.join();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
