package io.takofs.base;

import java.util.concurrent.locks.ReentrantLock;

/**
 * A lock that is held for less than it takes to put a thread to sleep and to wake it: a thread that
 * finds it held spins for a moment before it sleeps.
 *
 * <p>Thread rule: any thread.
 */
public final class BriefLock extends ReentrantLock {
  private static final long serialVersionUID = 1;

  /** Looks before the holder may want this processor, and looks after others had it. */
  private static final int LOOKS = 20;

  private static final int YIELDS = 50;

  @Override
  @SuppressWarnings("ThreadPriorityCheck") // For speed alone: the waiter sleeps afterwards.
  public void lock() {
    for (int i = 0; i < LOOKS; i++) {
      if (tryLock()) {
        return;
      }
      Thread.onSpinWait();
    }
    for (int i = 0; i < YIELDS; i++) {
      Thread.yield();
      if (tryLock()) {
        return;
      }
    }
    super.lock();
  }
}
