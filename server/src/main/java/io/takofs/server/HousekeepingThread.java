package io.takofs.server;

import io.takofs.base.Interrupts;
import java.util.concurrent.locks.LockSupport;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The thread that ticks a {@link DataServer}; asleep between ticks. */
final class HousekeepingThread implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(HousekeepingThread.class);
  private static final long FAILED_PAUSE_NS = 1_000_000_000;

  /** Pauses longer than this are cut short when there is work. */
  private static final long IDLE_NS = 10_000_000;

  private final DataServer server;
  private final Thread thread = new Thread(this::run, "tako-housekeeper");
  private volatile boolean stopped;
  private volatile boolean idle;

  HousekeepingThread(DataServer server) {
    this.server = server;
    thread.setDaemon(true);
    server.onTickWanted(this::wake);
    thread.start();
  }

  private void wake() {
    if (idle) {
      idle = false;
      LockSupport.unpark(thread);
    }
  }

  private void run() {
    while (!stopped) {
      DataServer.Tick tick;
      try {
        tick = server.tick();
      } catch (RuntimeException | Error e) { // without housekeeping no lease would ever end
        tick = new DataServer.Tick(FAILED_PAUSE_NS, server.failure());
        LOG.error("housekeeping failed{}", tick.failure() == null ? "; it is tried again" : "", e);
      }
      if (tick.failure() != null && !stopped) {
        // No call is served any more: a process that is gone is started again and loses nothing.
        throw new IllegalStateException("the server cannot go on: " + tick.failure());
      }
      idle = tick.pauseNs() > IDLE_NS;
      if (!stopped) {
        LockSupport.parkNanos(this, tick.pauseNs());
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
