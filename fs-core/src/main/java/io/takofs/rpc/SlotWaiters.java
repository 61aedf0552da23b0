package io.takofs.rpc;

import io.takofs.transport.PollingTurn;
import java.util.ArrayDeque;

/**
 * Callers that wait for a free slot, in the order in which they came.
 *
 * <p>Thread rule: guarded by the client's lock.
 */
final class SlotWaiters {
  private final ArrayDeque<Thread> threads = new ArrayDeque<>();

  void add(Thread caller) {
    threads.add(caller);
  }

  /** {@code caller} has been woken; it may have been waiting or not. */
  void remove(Thread caller) {
    threads.remove(caller);
  }

  /** Wakes the first, which takes itself out; nothing when nobody waits. */
  void wakeFirst(PollingTurn polling) {
    Thread first = threads.peek();
    if (first != null) {
      polling.wake(first);
    }
  }

  void wakeAll(PollingTurn polling) {
    threads.forEach(caller -> polling.wake(caller)); // without callers there may be no polling yet
  }
}
