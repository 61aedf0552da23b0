package io.takofs.transport;

import io.takofs.base.Clock;
import io.takofs.base.Interrupts;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/**
 * The turn to poll a completion queue: the transport's thread has it, else one of those who wait
 * for something that completes there. The others let others run for a moment, because waking a
 * thread costs more than most calls take, and then sleep until their own is done, or until it is
 * their turn. A thread that stops waiting, for any reason, hands a turn that nobody has to one that
 * still waits.
 *
 * <p>Thread rule: any thread.
 */
public final class PollingTurn {
  /** Times that a waiting thread lets others run before it sleeps: 0.2 ms where nobody wants to. */
  private static final int YIELDS = 250;

  private final CompletionQueue completions;
  private final Runnable poll;
  private final Clock clock;
  private final boolean transportPolls;
  private final AtomicReference<Thread> leader = new AtomicReference<>();
  private final Queue<Thread> waiting = new ConcurrentLinkedQueue<>();

  /** Waiting threads that are not asleep: one of them will take a turn that nobody has. */
  private final AtomicInteger awake = new AtomicInteger();

  private volatile boolean ended;

  /**
   * Turns at a queue.
   *
   * @param poll delivers what has completed; the waiting thread is unparked then
   */
  public PollingTurn(CompletionQueue completions, Runnable poll, Clock clock) {
    this.completions = completions;
    this.poll = poll;
    this.clock = clock;
    this.transportPolls = completions.onEvent(poll);
  }

  /** Whether the transport's thread polls, so that there are no turns. */
  public boolean transportPolls() {
    return transportPolls;
  }

  /**
   * Waits until {@code done} or the deadline, polling for all when nobody else does. Interrupts are
   * put off.
   *
   * @param done becomes true by a completion, after which the thread is unparked, or otherwise,
   *     after which it is woken by {@link #wake}
   * @param deadlineNs on the clock's {@link Clock#nanoTime}
   */
  public void await(BooleanSupplier done, long deadlineNs) {
    try (Interrupts interrupts = new Interrupts()) {
      while (!done.getAsBoolean() && clock.nanoTime() - deadlineNs < 0) {
        if (transportPolls) {
          if (!clock.yieldUntil(done, YIELDS)) {
            park(deadlineNs);
          }
        } else if (!ended && leader.compareAndSet(null, Thread.currentThread())) {
          try {
            lead(done, deadlineNs);
          } finally {
            leader.set(null);
          }
        } else {
          follow(done, deadlineNs);
        }
        interrupts.putOff();
      }
    } finally {
      passOn();
    }
  }

  private void lead(BooleanSupplier done, long deadlineNs) {
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

  private void follow(BooleanSupplier done, long deadlineNs) {
    awake.incrementAndGet();
    boolean news = clock.yieldUntil(() -> done.getAsBoolean() || leader.get() == null, YIELDS);
    awake.decrementAndGet();
    if (news) {
      return;
    }
    Thread me = Thread.currentThread();
    waiting.add(me);
    try {
      // Looked at again after the thread can be found: a turn that ended before is not missed.
      if (!done.getAsBoolean() && leader.get() != null) {
        park(deadlineNs);
      }
    } finally {
      waiting.remove(me);
    }
  }

  private void park(long deadlineNs) {
    clock.parkNanos(this, Math.max(1, deadlineNs - clock.nanoTime()));
  }

  private void passOn() {
    Thread next = leader.get() == null && awake.get() == 0 ? waiting.peek() : null;
    if (next != null) {
      LockSupport.unpark(next);
    }
  }

  /** Lets a thread that waits look again whether it is done; one that polls, too. */
  public void wake(Thread waiter) {
    LockSupport.unpark(waiter);
    if (leader.get() == waiter) {
      completions.wakeup();
    }
  }

  /** Takes the turn for good: nobody but the caller is in the queue any more. Once. */
  public void end() {
    ended = true;
    while (!leader.compareAndSet(null, Thread.currentThread())) {
      completions.wakeup();
      Thread.onSpinWait();
    }
  }
}
