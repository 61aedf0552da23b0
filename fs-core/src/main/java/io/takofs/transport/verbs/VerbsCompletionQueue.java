package io.takofs.transport.verbs;

import io.takofs.base.TakoException;
import io.takofs.base.Undo;
import io.takofs.jni.NativeError;
import io.takofs.jni.VerbsCore;
import io.takofs.layout.Layout;
import io.takofs.memory.MappedMemory;
import io.takofs.proto.Status;
import io.takofs.transport.CompletionHandler;
import io.takofs.transport.CompletionQueue;
import io.takofs.transport.CompletionStatus;
import io.takofs.transport.Opcode;
import io.takofs.transport.Spin;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReferenceArray;

/**
 * A completion queue: native code takes completions from the device and puts them into a ring, this
 * delivers them. Its room in the device grows with the queue pairs it serves, because a pair in
 * error completes all its posts, signalled or not.
 *
 * <p>The device's queue lives until this is closed and the last of its pairs has left the device.
 */
final class VerbsCompletionQueue implements CompletionQueue {
  private static final int RING_ENTRIES = 512;
  private static final Opcode[] OPCODES = Opcode.values();
  private static final CompletionStatus[] STATUSES = CompletionStatus.values();

  private final VerbsTransport transport;
  private final VerbsChannel channel;
  private final VerbsCompletions completions;
  private final MappedMemory block;
  private final ByteBuffer fields;
  private final MappedMemory ringMemory;
  private final ByteBuffer ring;
  private final AtomicReferenceArray<VerbsQueuePair> pairs =
      new AtomicReferenceArray<>(Layout.VERBS_QUEUE_PAIRS);

  // Guarded by this.
  private int capacity;
  private int demand;
  private int pairsInDevice;
  private int nextGeneration;
  private boolean released;

  private volatile boolean closed;
  private volatile boolean inNative; // the polling thread is in the device's queue

  private final AtomicLong timesDrained = new AtomicLong(); // written by the polling thread

  // The polling thread's: completions ever taken from the ring.
  private int head;

  // As well: successes not counted yet.
  private int succeeded;

  VerbsCompletionQueue(VerbsTransport transport, int capacity) throws IOException {
    this.transport = transport;
    this.capacity = capacity;
    this.block = MappedMemory.anonymous(VerbsCore.queueSize(), false);
    this.fields = block.slice(0, Layout.VERBS_COMPLETION_QUEUE_SIZE);
    this.ringMemory =
        MappedMemory.anonymous((long) RING_ENTRIES * Layout.VERBS_COMPLETION_SIZE, true);
    this.ring = ringMemory.slice(0, RING_ENTRIES * Layout.VERBS_COMPLETION_SIZE);
    try (Undo undo = new Undo()) {
      this.channel = undo.add(transport.control().createChannel());
      this.completions = undo.add(transport.control().createCompletions(capacity, channel));
      // On one processor neither the peer nor the device's driver can run while we spin.
      int spinNs = Runtime.getRuntime().availableProcessors() > 1 ? Spin.CEILING_NS : 0;
      NativeError.check(
          VerbsCore.initQueue(
              block.address(),
              completions.pointer(),
              channel.pointer(),
              ringMemory.address(),
              RING_ENTRIES,
              spinNs),
          "cannot make a completion queue");
      undo.keep();
    }
  }

  VerbsCompletions completions() {
    return completions;
  }

  long address() {
    return block.address();
  }

  /** A place in this queue. */
  record Slot(int index, int generation) {}

  /**
   * Gives the pair a slot and room for {@code posts} completions; both are free again when the pair
   * is closed and all it completed is polled.
   */
  synchronized Slot attach(VerbsQueuePair pair, int posts) throws TakoException {
    if (closed) {
      throw new TakoException(Status.UNAVAILABLE, "the completion queue is closed");
    }
    for (int slot = 0; slot < pairs.length(); slot++) {
      if (pairs.get(slot) == null) {
        makeRoom(demand + posts);
        demand += posts;
        pairsInDevice++;
        pairs.set(slot, pair);
        return new Slot(slot, nextGeneration++);
      }
    }
    throw new TakoException(
        Status.UNAVAILABLE,
        "a completion queue serves at most " + pairs.length() + " connections: close some");
  }

  private void makeRoom(int needed) throws TakoException {
    if (needed <= capacity) {
      return;
    }
    int most = transport.control().facts().maxCompletions();
    int wanted = (int) Math.min(most, Math.max(needed, 2L * capacity));
    if (needed > most) {
      throw new TakoException(
          Status.UNAVAILABLE,
          "a completion queue of the device holds at most " + most + " posts: close connections");
    }
    NativeError.check(
        VerbsCore.resizeQueue(block.address(), wanted), "cannot enlarge a completion queue");
    capacity = wanted;
  }

  /** The pair was never made: forgets its slot. */
  synchronized void detach(Slot slot, int posts) {
    pairs.set(slot.index(), null);
    demand -= posts;
    pairLeft();
  }

  /** The pair is no longer the device's; its remaining completions are still polled. */
  synchronized void pairLeft() {
    pairsInDevice--;
    releaseIfUnused();
  }

  @Override
  public int poll(CompletionHandler handler, int max) {
    int delivered = 0;
    while (delivered < max && (head != tail() || refill())) {
      int at = (head & (RING_ENTRIES - 1)) * Layout.VERBS_COMPLETION_SIZE;
      head++;
      delivered += deliver(handler, at);
    }
    fields.putInt(Layout.VERBS_COMPLETION_QUEUE_HEAD_OFFSET, head);
    if (succeeded > 0) {
      transport.counters().addCompletions(CompletionStatus.SUCCESS, succeeded);
      succeeded = 0;
    }
    return delivered;
  }

  private int tail() {
    return fields.getInt(Layout.VERBS_COMPLETION_QUEUE_TAIL_OFFSET);
  }

  private boolean refill() {
    fields.putInt(Layout.VERBS_COMPLETION_QUEUE_HEAD_OFFSET, head);
    boolean more = enterNative() && leaveNative(VerbsCore.poll(block.address())) > 0;
    if (!more) {
      timesDrained.lazySet(timesDrained.get() + 1);
    }
    return more;
  }

  /** Times that the polling thread has emptied the device's completion queue. */
  long timesDrained() {
    return timesDrained.get();
  }

  /** False when the queue is closed; else it is not released until {@link #leaveNative}. */
  private boolean enterNative() {
    inNative = true;
    if (closed) {
      inNative = false;
      return false;
    }
    return true;
  }

  private int leaveNative(int result) {
    inNative = false;
    return result;
  }

  private int deliver(CompletionHandler handler, int at) {
    int slot = ring.getInt(at + Layout.VERBS_COMPLETION_SLOT_OFFSET);
    int opcode = ring.get(at + Layout.VERBS_COMPLETION_OPCODE_OFFSET);
    VerbsQueuePair pair = pairs.get(slot);
    if (opcode == Layout.VERBS_EVENT_DETACHED) {
      freeSlot(slot, pair);
      return 0;
    }
    CompletionStatus status = STATUSES[ring.get(at + Layout.VERBS_COMPLETION_STATUS_OFFSET)];
    long id = ring.getLong(at + Layout.VERBS_COMPLETION_ID_OFFSET);
    if (status == CompletionStatus.SUCCESS) {
      succeeded += id == VerbsQueuePair.PROBE ? 0 : 1;
    } else {
      transport.counters().addCompletions(status, 1);
      pair.onFailedCompletion(
          status,
          ring.getShort(at + Layout.VERBS_COMPLETION_DEVICE_STATUS_OFFSET),
          ring.getInt(at + Layout.VERBS_COMPLETION_VENDOR_ERROR_OFFSET));
    }
    if (id == VerbsQueuePair.PROBE) {
      pair.onProbed();
      return 0;
    }
    handler.onCompletion(
        pair,
        id,
        OPCODES[opcode],
        status,
        ring.getInt(at + Layout.VERBS_COMPLETION_BYTE_COUNT_OFFSET),
        ring.getInt(at + Layout.VERBS_COMPLETION_IMMEDIATE_OFFSET));
    return 1;
  }

  private synchronized void freeSlot(int slot, VerbsQueuePair pair) {
    pairs.set(slot, null);
    demand -= pair.postsIn(this);
  }

  @Override
  public void await(long timeoutNs) {
    fields.putInt(Layout.VERBS_COMPLETION_QUEUE_HEAD_OFFSET, head);
    if (head == tail() && enterNative()) {
      leaveNative(VerbsCore.await(block.address(), timeoutNs));
    }
  }

  @Override
  public synchronized void wakeup() {
    if (!released) {
      VerbsCore.wake(block.address());
    }
  }

  @Override
  public boolean onEvent(Runnable callback) {
    return false;
  }

  @Override
  public void close() {
    synchronized (this) {
      if (closed) {
        return;
      }
      closed = true;
      wakeup();
      releaseIfUnused();
    }
    transport.forget(this);
  }

  private void releaseIfUnused() {
    if (!closed || released || pairsInDevice > 0) {
      return;
    }
    while (inNative) {
      Thread.onSpinWait();
    }
    released = true;
    VerbsCore.closeQueue(block.address());
    completions.close();
    channel.close();
  }
}
