package io.takofs.sim;

import io.takofs.base.Invariant;
import io.takofs.transport.CompletionHandler;
import io.takofs.transport.CompletionQueue;
import io.takofs.transport.CompletionStatus;
import io.takofs.transport.Opcode;
import java.util.ArrayDeque;

/** A bounded queue whose waiters let the simulation run. */
final class SimCompletionQueue implements CompletionQueue {
  /** Time for which a caller of await has surely worked since its last call. */
  private static final long WORK_NS = 100;

  private final SimTransport transport;
  private final int capacity;
  private final ArrayDeque<Entry> entries = new ArrayDeque<>();
  private Runnable callback;
  private boolean callbackScheduled;
  private boolean wakeup;
  private boolean closed;

  SimCompletionQueue(SimTransport transport, int capacity) {
    this.transport = transport;
    this.capacity = capacity;
  }

  private record Entry(
      SimQueuePair queuePair,
      long sendSequence,
      long workRequestId,
      Opcode opcode,
      CompletionStatus status,
      int byteCount,
      int immediate) {}

  /** Adds the completion of a receive. */
  void addReceive(
      SimQueuePair queuePair, long id, CompletionStatus status, int byteCount, int immediate) {
    add(new Entry(queuePair, 0, id, Opcode.RECEIVE_IMMEDIATE, status, byteCount, immediate));
  }

  /** Adds the completion of a send; polling it gives back the slots up to its sequence. */
  void addSend(SimQueuePair queuePair, SimWorkRequest request, CompletionStatus status) {
    int byteCount = request.opcode() == Opcode.READ ? request.length() : 0;
    add(
        new Entry(
            queuePair, request.sequence(), request.id(), request.opcode(), status, byteCount, 0));
  }

  private void add(Entry entry) {
    if (closed) {
      return;
    }
    Invariant.check(entries.size() < capacity, "a completion queue never overflows");
    entries.add(entry);
    scheduleCallback();
  }

  private void scheduleCallback() {
    if (callback != null && !callbackScheduled) {
      callbackScheduled = true;
      transport.schedule(
          WORK_NS,
          () -> {
            callbackScheduled = false;
            if (callback != null) {
              callback.run();
            }
          });
    }
  }

  @Override
  public int poll(CompletionHandler handler, int max) {
    int count = 0;
    while (count < max && !entries.isEmpty()) {
      Entry entry = entries.remove();
      transport.counters().addCompletions(entry.status, 1);
      entry.queuePair.completionPolled(entry.sendSequence);
      handler.onCompletion(
          entry.queuePair,
          entry.workRequestId,
          entry.opcode,
          entry.status,
          entry.byteCount,
          entry.immediate);
      count++;
    }
    return count;
  }

  @Override
  public void await(long timeoutNs) {
    SimScheduler scheduler = transport.scheduler();
    scheduler.pass(Math.min(timeoutNs, WORK_NS));
    scheduler.await(timeoutNs, () -> !entries.isEmpty() || wakeup);
    wakeup = false;
    transport.process().goOn(scheduler);
  }

  @Override
  public void wakeup() {
    wakeup = true;
  }

  @Override
  public boolean onEvent(Runnable newCallback) {
    callback = newCallback;
    if (!entries.isEmpty()) {
      scheduleCallback();
    }
    return true;
  }

  @Override
  public void close() {
    closed = true;
    entries.clear();
    callback = null;
  }
}
