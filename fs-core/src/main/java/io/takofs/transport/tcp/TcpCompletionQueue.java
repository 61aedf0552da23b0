package io.takofs.transport.tcp;

import io.takofs.transport.CompletionHandler;
import io.takofs.transport.CompletionQueue;
import io.takofs.transport.CompletionStatus;
import io.takofs.transport.Opcode;
import io.takofs.transport.TransportCounters;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/**
 * Completions, added by event loops and taken by one poller. An operation holds its slot until its
 * completion is polled, so the number of entries is bounded by the pairs' sizes.
 *
 * <p>Thread rule: as the SPI says; {@link #add} and {@link #signal} by any thread.
 */
final class TcpCompletionQueue implements CompletionQueue {
  /** Longer than a reply over loopback may still take, shorter than anyone would notice. */
  private static final long SPIN_NS = 10_000;

  private final Object lock = new Object();
  private final TransportCounters counters;
  private final AtomicInteger events = new AtomicInteger();

  // Guarded by lock: a ring of entries.
  private TcpQueuePair[] pairs;
  private long[] ids;
  private Opcode[] opcodes;
  private CompletionStatus[] statuses;
  private int[] byteCounts;
  private int[] immediates;
  private int head;
  private boolean closed;

  /** Written under lock; read without to see whether polling is worth it. */
  private volatile int count;

  private volatile boolean unsignalled;
  private volatile boolean woken;
  private volatile Thread waiter;
  private volatile Runnable callback;

  // The poller's: successes not counted yet.
  private int succeeded;

  TcpCompletionQueue(int capacity, TransportCounters counters) {
    this.counters = counters;
    int size = Math.max(1, capacity);
    pairs = new TcpQueuePair[size];
    ids = new long[size];
    opcodes = new Opcode[size];
    statuses = new CompletionStatus[size];
    byteCounts = new int[size];
    immediates = new int[size];
  }

  void add(
      TcpQueuePair pair,
      long workRequestId,
      Opcode opcode,
      CompletionStatus status,
      int byteCount,
      int immediate) {
    synchronized (lock) {
      if (closed) {
        return;
      }
      if (count == pairs.length) {
        grow();
      }
      int at = (head + count) % pairs.length;
      pairs[at] = pair;
      ids[at] = workRequestId;
      opcodes[at] = opcode;
      statuses[at] = status;
      byteCounts[at] = byteCount;
      immediates[at] = immediate;
      count = count + 1;
    }
    unsignalled = true;
  }

  private void grow() {
    int size = pairs.length;
    TcpQueuePair[] oldPairs = pairs;
    long[] oldIds = ids;
    Opcode[] oldOpcodes = opcodes;
    CompletionStatus[] oldStatuses = statuses;
    int[] oldByteCounts = byteCounts;
    int[] oldImmediates = immediates;
    pairs = new TcpQueuePair[2 * size];
    ids = new long[2 * size];
    opcodes = new Opcode[2 * size];
    statuses = new CompletionStatus[2 * size];
    byteCounts = new int[2 * size];
    immediates = new int[2 * size];
    for (int i = 0; i < size; i++) {
      int from = (head + i) % size;
      pairs[i] = oldPairs[from];
      ids[i] = oldIds[from];
      opcodes[i] = oldOpcodes[from];
      statuses[i] = oldStatuses[from];
      byteCounts[i] = oldByteCounts[from];
      immediates[i] = oldImmediates[from];
    }
    head = 0;
  }

  /**
   * Tells the poller of what was added since the last call: runs the callback, or ends the await.
   *
   * @param loop runs the callback later; null on the event loop, to run it now
   */
  void signal(TcpChannel loop) {
    if (!unsignalled) {
      return;
    }
    unsignalled = false;
    if (callback == null) {
      LockSupport.unpark(waiter);
    } else if (loop == null) {
      runCallback();
    } else {
      loop.onLoop(this::runCallback);
    }
  }

  /** Pairs of several event loops may share the queue; the callback runs on one at a time. */
  private void runCallback() {
    if (events.getAndIncrement() > 0) {
      return; // The loop that is in the callback will run it again.
    }
    int seen = 1;
    try {
      do {
        callback.run();
        seen = events.addAndGet(-seen);
      } while (seen > 0);
    } catch (RuntimeException | Error e) {
      events.set(0);
      throw e;
    }
  }

  @Override
  public int poll(CompletionHandler handler, int max) {
    int taken = 0;
    while (taken < max && count > 0) {
      TcpQueuePair pair;
      long id;
      Opcode opcode;
      CompletionStatus status;
      int byteCount;
      int immediate;
      synchronized (lock) {
        if (count == 0) {
          break;
        }
        pair = pairs[head];
        id = ids[head];
        opcode = opcodes[head];
        status = statuses[head];
        byteCount = byteCounts[head];
        immediate = immediates[head];
        pairs[head] = null;
        head = (head + 1) % pairs.length;
        count = count - 1;
      }
      taken++;
      if (status == CompletionStatus.SUCCESS) {
        succeeded++;
      } else {
        counters.addCompletions(status, 1);
      }
      pair.completionPolled(opcode);
      handler.onCompletion(pair, id, opcode, status, byteCount, immediate);
    }
    if (succeeded > 0) {
      counters.addCompletions(CompletionStatus.SUCCESS, succeeded);
      succeeded = 0;
    }
    return taken;
  }

  @Override
  public void await(long timeoutNs) {
    long start = System.nanoTime();
    long spin = Math.min(SPIN_NS, timeoutNs);
    while (!mustReturn() && System.nanoTime() - start < spin) {
      Thread.onSpinWait();
    }
    waiter = Thread.currentThread();
    long left = timeoutNs - (System.nanoTime() - start);
    if (!mustReturn() && left > 0) {
      LockSupport.parkNanos(this, left);
    }
    waiter = null;
    woken = false;
  }

  private boolean mustReturn() {
    return count > 0 || woken;
  }

  @Override
  public void wakeup() {
    woken = true;
    LockSupport.unpark(waiter);
  }

  @Override
  public boolean onEvent(Runnable newCallback) {
    callback = newCallback;
    return true;
  }

  @Override
  public void close() {
    synchronized (lock) {
      closed = true;
      count = 0;
      Arrays.fill(pairs, null);
    }
    wakeup();
  }
}
