package io.takofs.client.internal.zone;

import java.util.Set;
import java.util.concurrent.CopyOnWriteArraySet;

/**
 * Bytes of buffers that one client may have, over all transports. Half of them is for those who
 * cannot go on without: uses that are merely faster with more memory get only the other half.
 *
 * <p>Thread rule: any thread.
 */
public final class MemoryBudget {
  private final long max;
  private final Set<Runnable> trimmers = new CopyOnWriteArraySet<>();
  private long used;
  private long peak;

  public MemoryBudget(long max) {
    this.max = max;
  }

  /** Runs {@code trimmer}, which releases what is not used, when bytes are short. */
  void onShortage(Runnable trimmer) {
    trimmers.add(trimmer);
  }

  /** Ends {@link #onShortage}. */
  void forget(Runnable trimmer) {
    trimmers.remove(trimmer);
  }

  /** Takes bytes that somebody needs to go on; false when there are not so many. */
  boolean reserveNeeded(long bytes) {
    return reserve(bytes, max);
  }

  /** Takes bytes that somebody can do without; false when there are not so many. */
  boolean reserveUseful(long bytes) {
    return reserve(bytes, max / 2);
  }

  private boolean reserve(long bytes, long limit) {
    if (tryReserve(bytes, limit)) {
      return true;
    }
    trim();
    return tryReserve(bytes, limit);
  }

  /** Has everything released that is not used. */
  public void trim() {
    trimmers.forEach(Runnable::run);
  }

  private synchronized boolean tryReserve(long bytes, long limit) {
    if (used + bytes > limit) {
      return false;
    }
    take(bytes);
    return true;
  }

  private void take(long bytes) {
    used += bytes;
    peak = Math.max(peak, used);
  }

  /** Whether {@link #reserveNeeded} would succeed. */
  synchronized boolean hasRoomFor(long bytes) {
    return used + bytes <= max;
  }

  /** Takes bytes whether there are so many or not: others are given back at once. */
  void exchange(long bytes) {
    if (!reserveNeeded(bytes)) {
      synchronized (this) {
        take(bytes);
      }
    }
  }

  synchronized void release(long bytes) {
    used -= bytes;
  }

  public synchronized long used() {
    return used;
  }

  /** The most that were used at a time. */
  public synchronized long peak() {
    return peak;
  }

  long max() {
    return max;
  }
}
