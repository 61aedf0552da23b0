package io.takofs.server;

import io.takofs.base.Interrupts;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The thread that ticks a {@link DataServer}; asleep between ticks.
 *
 * <p>Thread rule: {@link #wake} by any thread.
 */
final class HousekeepingThread implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(HousekeepingThread.class);
  private static final long FAILED_PAUSE_NS = 1_000_000_000;

  /** Pauses longer than this are cut short when there is work. */
  private static final long IDLE_NS = 10_000_000;

  /** The pause where work came meanwhile. */
  private static final long SOON_NS = 1_000_000;

  private final Supplier<DataServer.Tick> ticks;
  private final Supplier<String> failure;
  private final Thread thread = new Thread(this::run, "tako-housekeeper");
  private volatile boolean stopped;
  private volatile boolean idle;
  private volatile boolean wanted; // by others, since the last tick began

  private HousekeepingThread(Supplier<DataServer.Tick> ticks, Supplier<String> failure) {
    this.ticks = ticks;
    this.failure = failure;
    thread.setDaemon(true);
  }

  /** Starts the thread of {@code server}. */
  static HousekeepingThread of(DataServer server) {
    HousekeepingThread made = start(server::tick, server::failure);
    server.onTickWanted(made::wake);
    return made;
  }

  /**
   * Starts a thread.
   *
   * @param ticks does what is due
   * @param failure as {@link DataServer.Tick#failure}, when one threw
   */
  static HousekeepingThread start(Supplier<DataServer.Tick> ticks, Supplier<String> failure) {
    HousekeepingThread made = new HousekeepingThread(ticks, failure);
    made.thread.start();
    return made;
  }

  /** There is something to do; the pause that a tick asks for holds for what it did itself. */
  void wake() {
    if (Thread.currentThread() == thread) {
      return;
    }
    wanted = true; // before it is looked whether the thread sleeps, which looks the other way round
    if (idle) {
      idle = false;
      LockSupport.unpark(thread);
    }
  }

  private void run() {
    while (!stopped) {
      DataServer.Tick tick;
      wanted = false;
      try {
        tick = ticks.get();
      } catch (RuntimeException | Error e) { // without housekeeping no lease would ever end
        tick = new DataServer.Tick(FAILED_PAUSE_NS, failure.get());
        LOG.error("housekeeping failed{}", tick.failure() == null ? "; it is tried again" : "", e);
      }
      if (tick.failure() != null && !stopped) {
        // No call is served any more: a process that is gone is started again and loses nothing.
        throw new IllegalStateException("the server cannot go on: " + tick.failure());
      }
      idle = tick.pauseNs() > IDLE_NS;
      if (!stopped) {
        LockSupport.parkNanos(this, idle && wanted ? SOON_NS : tick.pauseNs());
      }
      idle = false;
    }
  }

  @Override
  public void close() {
    stopped = true;
    LockSupport.unpark(thread);
    Interrupts.join(thread);
  }
}
