package io.takofs.client;

import io.takofs.base.Clock;
import io.takofs.transport.CompletionQueue;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/**
 * Who polls a completion queue whose transport has no thread: one of those who wait for something
 * that completes there. The others sleep until their own is done, or until it is their turn.
 * Whoever stops waiting, for whatever reason, hands a turn that nobody has to one that still waits.
 *
 * <p>Thread rule: any thread.
 */
final class PollingTurn {
  private final CompletionQueue completions;
  private final Runnable poll;
  private final AtomicBoolean taken = new AtomicBoolean();
  private final Queue<Thread> waiting = new ConcurrentLinkedQueue<>();
  private volatile boolean ended;

  /**
   * Turns at a queue.
   *
   * @param poll delivers what has completed; whoever waits for it is unparked then
   */
  PollingTurn(CompletionQueue completions, Runnable poll) {
    this.completions = completions;
    this.poll = poll;
  }

  /**
   * Waits until {@code done} or the deadline, polling for all when nobody else does.
   *
   * @param done becomes true by a completion, after which the thread is unparked
   * @return whether the thread was interrupted meanwhile; the interrupt is taken
   */
  boolean await(BooleanSupplier done, Clock clock, long deadlineNs) {
    boolean interrupted = false;
    while (!done.getAsBoolean() && clock.nanoTime() - deadlineNs < 0) {
      if (!ended && taken.compareAndSet(false, true)) {
        try {
          lead(done, clock, deadlineNs);
        } finally {
          taken.set(false);
        }
      } else {
        follow(done, clock, deadlineNs);
      }
      interrupted |= Thread.interrupted();
    }
    passOn();
    return interrupted;
  }

  private void lead(BooleanSupplier done, Clock clock, long deadlineNs) {
    poll.run();
    while (!done.getAsBoolean() && !ended && !Thread.currentThread().isInterrupted()) {
      long left = deadlineNs - clock.nanoTime();
      if (left <= 0) {
        return;
      }
      completions.await(left);
      poll.run();
    }
  }

  private void follow(BooleanSupplier done, Clock clock, long deadlineNs) {
    Thread me = Thread.currentThread();
    waiting.add(me);
    try {
      // Looked at again after the thread can be found: a turn that ended before is not missed.
      if (!done.getAsBoolean() && taken.get()) {
        clock.parkNanos(this, Math.max(1, deadlineNs - clock.nanoTime()));
      }
    } finally {
      waiting.remove(me);
    }
  }

  private void passOn() {
    Thread next = taken.get() ? null : waiting.peek();
    if (next != null) {
      LockSupport.unpark(next);
    }
  }

  /** Takes the turn for good: nobody but the caller is in the queue any more. Once. */
  void end() {
    ended = true;
    while (!taken.compareAndSet(false, true)) {
      completions.wakeup();
      Thread.onSpinWait();
    }
  }
}
