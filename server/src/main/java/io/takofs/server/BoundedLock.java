package io.takofs.server;

import io.takofs.base.Clock;
import io.takofs.base.TakoException;
import io.takofs.proto.Status;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The data server's lock for those that would rather be told that it is not free than wait.
 *
 * <p>Thread rule: any thread.
 */
final class BoundedLock {
  /** A server whose lock is not free for so long does not serve. */
  static final int STUCK_S = 2;

  /**
   * After somebody waited in vain nobody waits for so long: many that ask one after the other, on
   * one thread, wait once and not each.
   */
  private static final long REMEMBERED_NS = TimeUnit.SECONDS.toNanos(1);

  private final ReentrantLock lock;
  private final Clock clock;
  private volatile boolean stuck;
  private volatile long stuckNs;

  BoundedLock(ReentrantLock lock, Clock clock) {
    this.lock = lock;
    this.clock = clock;
  }

  /**
   * Takes the lock; the caller unlocks it.
   *
   * @throws TakoException UNAVAILABLE when it is not free for {@link #STUCK_S}
   */
  void lock() throws TakoException {
    boolean waits = !stuck || clock.nanoTime() - stuckNs >= REMEMBERED_NS;
    if (tryLock(waits ? STUCK_S : 0)) {
      stuck = false;
      return;
    }
    if (waits) {
      stuckNs = clock.nanoTime();
      stuck = true;
    }
    throw new TakoException(
        Status.UNAVAILABLE,
        "one call or the housekeeping has held the server for more than "
            + STUCK_S
            + " s; see what its threads do (jstack), and its log");
  }

  private boolean tryLock(int seconds) throws TakoException {
    try {
      return lock.tryLock(seconds, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new TakoException(Status.UNAVAILABLE, "the server is stopping", e);
    }
  }
}
