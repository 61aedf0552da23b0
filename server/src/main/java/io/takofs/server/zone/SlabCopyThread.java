package io.takofs.server.zone;

import io.takofs.base.Interrupts;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The thread of a {@link SlabCopy}, which it owns; asleep while there is nothing to copy. */
public final class SlabCopyThread implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(SlabCopyThread.class);
  private static final long FAILED_PAUSE_NS = TimeUnit.SECONDS.toNanos(1);

  private final SlabCopy copy;
  private final Thread thread = new Thread(this::run, "tako-slab-copy");

  /** Starts the thread. */
  public SlabCopyThread(SlabCopy copy) {
    this.copy = copy;
    thread.setDaemon(true);
    copy.onWork(() -> LockSupport.unpark(thread));
    thread.start();
  }

  private void run() {
    while (!copy.isStopping()) {
      long pauseNs;
      try {
        pauseNs = copy.step();
      } catch (RuntimeException | Error e) { // without it no slab would ever be repaired
        pauseNs = FAILED_PAUSE_NS;
        LOG.error("copying a slab failed; the next extent is tried", e);
      }
      if (pauseNs > 0 && !copy.isStopping()) {
        LockSupport.parkNanos(this, pauseNs);
      }
    }
    copy.close();
  }

  /** Waits for the extent that is being read: some seconds at most. */
  @Override
  public void close() {
    copy.stop();
    LockSupport.unpark(thread);
    Interrupts.join(thread);
  }
}
