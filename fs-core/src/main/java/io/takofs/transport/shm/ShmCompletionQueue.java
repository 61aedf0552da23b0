package io.takofs.transport.shm;

import io.takofs.base.TakoException;
import io.takofs.base.Undo;
import io.takofs.jni.NativeCore;
import io.takofs.layout.Layout;
import io.takofs.memory.MappedMemory;
import io.takofs.proto.Status;
import io.takofs.transport.CompletionHandler;
import io.takofs.transport.CompletionQueue;
import io.takofs.transport.CompletionStatus;
import io.takofs.transport.Opcode;
import io.takofs.transport.Spin;
import io.takofs.transport.TransportCounters;
import java.io.IOException;
import java.lang.ref.Reference;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A completion queue: native code finds what is complete, this delivers it. Its doorbell is a file
 * that the peers of all its queue pairs map.
 */
final class ShmCompletionQueue implements CompletionQueue {
  private static final Logger LOG = LoggerFactory.getLogger(ShmCompletionQueue.class);
  private static final int BATCH = 256;
  private static final Opcode[] OPCODES = Opcode.values();
  private static final CompletionStatus[] STATUSES = CompletionStatus.values();

  private final ShmTransport transport;
  private final Path doorbellPath;
  private final TransportCounters counters;
  private final MappedMemory doorbell;
  private final MappedMemory block;
  private final MappedMemory batch;
  private final ByteBuffer completions;
  private final AtomicReferenceArray<ShmQueuePair> pairs =
      new AtomicReferenceArray<>(Layout.SHM_QUEUE_PAIRS);
  private volatile boolean closed;

  // The polling thread's: completions [next, filled) of the batch are not delivered yet.
  private int next;
  private int filled;

  // As well: successes not counted yet.
  private int succeeded;

  ShmCompletionQueue(ShmTransport transport, Path doorbellPath) throws IOException {
    this.transport = transport;
    this.doorbellPath = doorbellPath;
    this.counters = transport.counters();
    try (Undo undo = new Undo()) {
      this.doorbell = undo.add(MappedMemory.create(doorbellPath, Layout.SHM_DOORBELL_SIZE));
      undo.add(() -> Files.deleteIfExists(doorbellPath));
      this.block = undo.add(MappedMemory.anonymous(Layout.SHM_COMPLETION_QUEUE_SIZE, true));
      this.batch = MappedMemory.anonymous((long) BATCH * Layout.SHM_COMPLETION_SIZE, true);
      undo.keep();
    }
    this.completions = batch.slice(0, BATCH * Layout.SHM_COMPLETION_SIZE);
    ByteBuffer fields = block.slice(0, Layout.SHM_COMPLETION_QUEUE_SIZE);
    fields.putLong(Layout.SHM_COMPLETION_QUEUE_DOORBELL_OFFSET, doorbell.address());
    fields.putInt(Layout.SHM_COMPLETION_QUEUE_SPIN_NS_OFFSET, Spin.CEILING_NS);
  }

  Path doorbellPath() {
    return doorbellPath;
  }

  long address() {
    return block.address();
  }

  /** Gives the pair a slot; it is free again when the pair is closed and drained. */
  synchronized int attach(ShmQueuePair pair) throws TakoException {
    for (int slot = 0; slot < pairs.length(); slot++) {
      if (pairs.get(slot) == null) {
        pairs.set(slot, pair);
        return slot;
      }
    }
    throw new TakoException(
        Status.UNAVAILABLE,
        "a completion queue serves at most " + pairs.length() + " connections: close some");
  }

  /** The pair was never made: forgets its slot, which native code does not know. */
  synchronized void detach(int slot) {
    pairs.set(slot, null);
  }

  @Override
  public int poll(CompletionHandler handler, int max) {
    int delivered = 0;
    while (delivered < max && (next < filled || refill(max - delivered))) {
      delivered += deliver(handler, next++ * Layout.SHM_COMPLETION_SIZE);
    }
    if (succeeded > 0) {
      counters.addCompletions(CompletionStatus.SUCCESS, succeeded);
      succeeded = 0;
    }
    return delivered;
  }

  private boolean refill(int asked) {
    try {
      next = 0;
      filled = 0;
      if (!closed) {
        filled = NativeCore.poll(block.address(), batch.address(), Math.min(BATCH, asked));
      }
      return filled > 0;
    } finally {
      Reference.reachabilityFence(this);
    }
  }

  private int deliver(CompletionHandler handler, int at) {
    int slot = completions.getInt(at + Layout.SHM_COMPLETION_SLOT_OFFSET);
    int opcode = completions.get(at + Layout.SHM_COMPLETION_OPCODE_OFFSET);
    ShmQueuePair pair = pairs.get(slot);
    if (opcode == Layout.SHM_EVENT_DETACHED) {
      pairs.set(slot, null);
      return 0;
    }
    if (opcode == Layout.SHM_EVENT_FAILED) {
      pair.fail("it sent more than receives were posted");
      return 0;
    }
    CompletionStatus status = STATUSES[completions.get(at + Layout.SHM_COMPLETION_STATUS_OFFSET)];
    if (status == CompletionStatus.SUCCESS) {
      succeeded++;
    } else {
      counters.addCompletions(status, 1);
    }
    handler.onCompletion(
        pair,
        completions.getLong(at + Layout.SHM_COMPLETION_ID_OFFSET),
        OPCODES[opcode],
        status,
        completions.getInt(at + Layout.SHM_COMPLETION_BYTE_COUNT_OFFSET),
        completions.getInt(at + Layout.SHM_COMPLETION_IMMEDIATE_OFFSET));
    return 1;
  }

  @Override
  public void await(long timeoutNs) {
    try {
      if (next == filled && !closed) {
        NativeCore.await(block.address(), timeoutNs);
      }
    } finally {
      Reference.reachabilityFence(this);
    }
  }

  @Override
  public void wakeup() {
    try {
      NativeCore.wake(block.address());
    } finally {
      Reference.reachabilityFence(this);
    }
  }

  @Override
  public boolean onEvent(Runnable callback) {
    return false;
  }

  @Override
  public void close() {
    if (closed) {
      return;
    }
    closed = true;
    wakeup();
    try {
      Files.deleteIfExists(doorbellPath);
    } catch (IOException e) {
      LOG.warn("cannot remove {}: {}", doorbellPath, e.toString());
    }
    transport.forget(this);
  }
}
