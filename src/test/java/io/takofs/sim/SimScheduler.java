package io.takofs.sim;

import io.takofs.base.Invariant;
import java.util.PriorityQueue;
import java.util.Random;
import java.util.function.BooleanSupplier;

/**
 * Virtual time and what will happen in it. Events of one instant run in the order they were
 * scheduled. An event may itself wait, and so run later events inside.
 *
 * <p>Thread rule: one thread.
 */
public final class SimScheduler {
  private final Random random;
  private final PriorityQueue<Event> events = new PriorityQueue<>();
  private long nowNs;
  private long nextNumber;
  private Runnable checker;
  private int checkerInterval;
  private long steps;
  private final SimTrace trace = new SimTrace();

  public SimScheduler(long seed) {
    // Seeds that follow one another would begin with much the same chances.
    this.random = new Random(seed * 0x9E3779B97F4A7C15L);
  }

  /** The one source of chance. */
  public Random random() {
    return random;
  }

  public SimTrace trace() {
    return trace;
  }

  /** Runs {@code action}, which lets no time pass, after every {@code interval}th event. */
  public void check(int interval, Runnable action) {
    checkerInterval = interval;
    checker = action;
  }

  /** Virtual time since the beginning. */
  public long nowNs() {
    return nowNs;
  }

  /** Between {@code minNs} and {@code maxNs}, both included. */
  public long delayNs(long minNs, long maxNs) {
    return minNs + (long) (random.nextDouble() * (maxNs - minNs + 1));
  }

  /** Runs {@code action} after {@code delayNs}, unless {@code process} is dead then. */
  public void schedule(SimProcess process, long delayNs, Runnable action) {
    Invariant.check(delayNs >= 0, "nothing happens in the past");
    long startNs = nowNs + delayNs + process.slownessNs();
    events.add(new Event(startNs, nextNumber++, process, action));
  }

  /** Lets time pass until {@code condition} holds or {@code timeoutNs} have passed. */
  public void await(long timeoutNs, BooleanSupplier condition) {
    long deadlineNs = nowNs + timeoutNs < nowNs ? Long.MAX_VALUE : nowNs + timeoutNs;
    while (!condition.getAsBoolean() && stepUntil(deadlineNs)) {
      // The event may have changed the condition.
    }
  }

  /** Lets the next event happen, or {@code timeoutNs} pass when there is none before. */
  void step(long timeoutNs) {
    stepUntil(nowNs + timeoutNs < nowNs ? Long.MAX_VALUE : nowNs + timeoutNs);
  }

  private boolean stepUntil(long deadlineNs) {
    Event next = events.peek();
    if (next == null || next.timeNs > deadlineNs) {
      nowNs = Math.max(nowNs, deadlineNs);
      return false;
    }
    events.remove();
    // An event that waited may have moved time beyond events that were due.
    nowNs = Math.max(nowNs, next.timeNs);
    trace.event(nowNs, next.number, next.process);
    next.process.run(next.action);
    if (checker != null && ++steps % checkerInterval == 0) {
      checker.run();
    }
    return true;
  }

  /** Lets {@code durationNs} pass. */
  public void pass(long durationNs) {
    await(durationNs, () -> false);
  }

  private record Event(long timeNs, long number, SimProcess process, Runnable action)
      implements Comparable<Event> {
    @Override
    public int compareTo(Event other) {
      return timeNs != other.timeNs
          ? Long.compare(timeNs, other.timeNs)
          : Long.compare(number, other.number);
    }
  }
}
