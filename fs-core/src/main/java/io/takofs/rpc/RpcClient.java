package io.takofs.rpc;

import com.google.protobuf.InvalidProtocolBufferException;
import io.takofs.base.BriefLock;
import io.takofs.base.Clock;
import io.takofs.base.Interrupts;
import io.takofs.base.Invariant;
import io.takofs.base.TakoException;
import io.takofs.base.Undo;
import io.takofs.proto.Reply;
import io.takofs.proto.Request;
import io.takofs.rpc.AsynchronousCalls.PendingCall;
import io.takofs.transport.CompletionQueue;
import io.takofs.transport.CompletionStatus;
import io.takofs.transport.MemoryRegion;
import io.takofs.transport.Opcode;
import io.takofs.transport.PollingTurn;
import io.takofs.transport.QueuePair;
import io.takofs.transport.QueuePairConfig;
import io.takofs.transport.ScatterGather;
import io.takofs.transport.Transport;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/**
 * The calling side of one connection: as many calls at a time as its {@link ConnectionKind} has
 * slots, the others wait their turn.
 *
 * <p>Where the transport has no thread of its own, one of the waiting callers polls for all and
 * hands over when its own reply is there ({@link PollingTurn}); so a call costs no change of
 * threads.
 *
 * <p>A call that times out leaves its slot poisoned until the late reply arrives. When the
 * connection ends, all calls fail at once with DISCONNECTED, and the object is of no more use.
 *
 * <p>Thread rule: any thread. Interrupts do not end a call, its deadline does; they are kept for
 * the caller.
 */
public final class RpcClient implements AutoCloseable {
  /** Sends between two that report success, so that the transport can forget them. */
  private static final int SIGNAL_INTERVAL = 16;

  private static final int BATCH = 64;

  private final Clock clock;
  private final ConnectionKind kind;
  private final CompletionQueue completions;
  private final CallFailures failures;
  private final ClientSlots slots;
  private final SlotWaiters slotWaiters = new SlotWaiters();
  private final AsynchronousCalls asynchronous = new AsynchronousCalls();
  private final BriefLock lock = new BriefLock();
  private final ScatterGather pieces = new ScatterGather();
  private final RpcHeader header = new RpcHeader();
  private final AtomicInteger callers = new AtomicInteger();
  private PollingTurn polling;
  private QueuePair pair;
  private ConnectionInfo server;
  private volatile String failure;
  private boolean closed;
  private int sends;

  private RpcClient(Transport transport, RpcTarget target, Clock clock) throws IOException {
    this.clock = clock;
    this.kind = target.kind();
    this.failures = new CallFailures(transport.name(), target.serverName());
    try (Undo undo = new Undo()) {
      this.slots = undo.add(new ClientSlots(transport, kind));
      this.completions = transport.createCompletionQueue(kind.completions());
      undo.keep();
    }
  }

  /**
   * Connects.
   *
   * @param timeoutNs until the connection must stand
   * @throws IOException naming the server and what is wrong with it
   */
  public static RpcClient connect(
      Transport transport, RpcTarget target, long timeoutNs, Clock clock) throws IOException {
    try (Undo undo = new Undo()) {
      RpcClient client = undo.add(new RpcClient(transport, target, clock));
      client.connect(transport, target, timeoutNs);
      undo.keep();
      return client;
    }
  }

  private void connect(Transport transport, RpcTarget target, long timeoutNs) throws IOException {
    MemoryRegion replies = slots.replies();
    ConnectionInfo ours =
        ConnectionInfo.ours(kind.code, target.clientId(), 0, replies.address(), replies.rkey());
    QueuePairConfig config =
        new QueuePairConfig(slots.domain(), completions, completions, kind.sends(), kind.slots);
    QueuePair connected = transport.connect(target.endpoint(), config, ours.pack(), timeoutNs);
    lock.lock();
    try {
      pair = connected;
      server = ConnectionInfo.unpack(pair.remotePrivateData(), failures.server());
      for (int i = 0; i < kind.slots; i++) {
        pair.postReceive(i);
      }
      polling = new PollingTurn(completions, this::poll, clock);
    } finally {
      lock.unlock();
    }
  }

  /** The server's name, as errors say it. */
  public String serverName() {
    return failures.server();
  }

  /** Incarnation of the server at the time of the connection. */
  public long epoch() {
    return server.epoch();
  }

  /** Whether calls may still succeed. */
  public boolean isConnected() {
    lock.lock();
    try {
      return failure == null && pair.state() == QueuePair.State.CONNECTED;
    } finally {
      lock.unlock();
    }
  }

  /**
   * Sends {@code request} and waits for its reply, whatever status that has.
   *
   * @param clientId the session, 0 before there is one
   * @param sequence number of the call within the session
   * @param deadlineNanos on the clock's {@link Clock#nanoTime}
   * @throws TakoException DEADLINE_EXCEEDED or DISCONNECTED: the outcome is unknown;
   *     INVALID_ARGUMENT when the request is too large for a slot: nothing was sent
   */
  public Reply call(long clientId, long sequence, Request request, long deadlineNanos)
      throws TakoException {
    CallFailures.checkSize(request, kind.requestSize);
    long begin = clock.nanoTime();
    try (Interrupts interrupts = new Interrupts()) {
      interrupts.putOff();
      callers.incrementAndGet();
      try {
        ClientSlot slot = takeSlot(request, begin, deadlineNanos);
        send(slot, clientId, sequence, request, deadlineNanos);
        polling.await(() -> slot.state != ClientSlot.State.POSTED, deadlineNanos);
        return finish(slot, begin);
      } finally {
        callers.decrementAndGet();
      }
    }
  }

  /**
   * Sends {@code request}; {@code handler} gets the outcome, on a thread that polls. When all slots
   * are taken the call waits for one. Deadlines are seen by {@link #expire}.
   *
   * @throws TakoException INVALID_ARGUMENT when the request is too large for a slot: nothing was
   *     sent and the handler will not be called
   */
  public void call(
      long clientId, long sequence, Request request, long deadlineNanos, ReplyHandler handler)
      throws TakoException {
    CallFailures.checkSize(request, kind.requestSize);
    TakoException failed = null;
    lock.lock();
    try {
      PendingCall call = new PendingCall(clientId, sequence, request, deadlineNanos, handler);
      ClientSlot slot = failure == null ? slots.poll() : null;
      if (failure != null) {
        failed = disconnected();
      } else if (slot == null) {
        asynchronous.await(call);
      } else {
        start(call, slot);
      }
    } finally {
      lock.unlock();
    }
    if (failed != null) {
      handler.onFailure(failed);
    }
  }

  /** Takes what has arrived, without waiting; for transports and simulations that drive it. */
  void poll() {
    List<ClientSlot> decided;
    lock.lock();
    try {
      if (!closed && pair != null) {
        drain();
      }
      decided = asynchronous.takeDecided();
    } finally {
      lock.unlock();
    }
    for (ClientSlot slot : decided) {
      deliver(slot);
    }
  }

  /** Fails asynchronous calls whose deadline has passed. */
  void expire() {
    List<Runnable> expired;
    lock.lock();
    try {
      expired =
          asynchronous.expire(
              slots.all(), clock.nanoTime(), operation -> failures.deadlineExceeded(operation, 0));
    } finally {
      lock.unlock();
    }
    expired.forEach(Runnable::run);
  }

  /** Uses the connection no more: calls fail with DISCONNECTED and {@code why}. */
  public void end(String why) {
    fail(why);
  }

  /** Ends the connection; calls under way fail with DISCONNECTED. */
  @Override
  public void close() {
    fail("it was closed");
    poll();
    try (Interrupts interrupts = new Interrupts()) {
      while (!closeWithoutCallers()) {
        clock.parkNanos(this, 20_000);
        interrupts.putOff();
      }
    }
  }

  /** Gives back, once, what the connection is made of; false while a caller still uses it. */
  private boolean closeWithoutCallers() {
    lock.lock();
    try {
      if (closed || callers.get() > 0) {
        return closed;
      }
      closed = true;
    } finally {
      lock.unlock();
    }
    if (pair != null) {
      pair.close();
    }
    completions.close();
    slots.close();
    return true;
  }

  // ---- slots ------------------------------------------------------------------------------------

  private ClientSlot takeSlot(Request request, long begin, long deadlineNanos)
      throws TakoException {
    Thread me = Thread.currentThread();
    while (true) {
      lock.lock();
      try {
        slotWaiters.remove(me);
        if (failure != null) {
          throw disconnected();
        }
        ClientSlot slot = slots.poll();
        if (slot != null) {
          wakeSlotWaiter();
          return slot;
        }
        if (clock.nanoTime() - deadlineNanos >= 0) {
          throw failures.deadlineExceeded(RpcMessage.operation(request), clock.nanoTime() - begin);
        }
        slotWaiters.add(me);
      } finally {
        lock.unlock();
      }
      polling.await(() -> failure != null || slots.anyFree(), deadlineNanos);
    }
  }

  private void release(ClientSlot slot) {
    slot.clear();
    PendingCall next = failure == null ? asynchronous.next() : null;
    if (next != null) {
      start(next, slot);
      return;
    }
    slots.free(slot);
    wakeSlotWaiter();
  }

  private void wakeSlotWaiter() {
    if (slots.anyFree()) {
      slotWaiters.wakeFirst(polling);
    }
  }

  /** Sends the call of this thread, which will wait for it. */
  private void send(
      ClientSlot slot, long clientId, long sequence, Request request, long deadlineNanos) {
    slot.deadlineNanos = deadlineNanos;
    int size = RpcMessage.encode(slot.request, clientId, sequence, server.epoch(), request);
    slot.waiter = Thread.currentThread();
    lock.lock();
    try {
      if (failure == null) {
        post(slot, clientId, sequence, RpcMessage.operation(request), size);
      } else {
        slot.state = ClientSlot.State.FAILED;
      }
    } finally {
      lock.unlock();
    }
  }

  private void start(PendingCall call, ClientSlot slot) {
    int size =
        RpcMessage.encode(
            slot.request, call.clientId(), call.sequence(), server.epoch(), call.request());
    slot.handler = call.handler();
    slot.deadlineNanos = call.deadlineNanos();
    post(slot, call.clientId(), call.sequence(), RpcMessage.operation(call.request()), size);
  }

  private void post(ClientSlot slot, long clientId, long sequence, String operation, int size) {
    slot.post(clientId, sequence, operation);
    sends++;
    Invariant.check(pair.sendSlotsFree() > 0, "more sends outstanding than slots allow");
    pair.writeWithImmediate(
        slot.index,
        pieces.clear().add(slots.requests(), slot.index * kind.requestSize, size),
        server.address() + (long) slot.index * kind.requestSize,
        server.rkey(),
        Immediate.pack(Immediate.REQUEST, slot.generation, slot.index, size),
        sends % SIGNAL_INTERVAL == 0 ? QueuePair.SIGNALED : 0);
    pair.ring();
  }

  // ---- the end of a call ------------------------------------------------------------------------

  private Reply finish(ClientSlot slot, long begin) throws TakoException {
    if (slot.state == ClientSlot.State.POSTED) {
      giveUp(slot, begin);
    }
    Reply reply = slot.state == ClientSlot.State.REPLIED ? parse(slot) : null;
    lock.lock();
    try {
      if (reply == null) {
        throw disconnected();
      }
      release(slot);
      return reply;
    } finally {
      lock.unlock();
    }
  }

  /** Poisons the slot and throws, unless the call was decided in the last moment. */
  private void giveUp(ClientSlot slot, long begin) throws TakoException {
    lock.lock();
    try {
      if (slot.state == ClientSlot.State.POSTED) {
        slot.state = ClientSlot.State.POISONED;
        slot.waiter = null;
        throw failures.deadlineExceeded(slot.operation, clock.nanoTime() - begin);
      }
    } finally {
      lock.unlock();
    }
  }

  // ---- arrivals (lock held) ---------------------------------------------------------------------

  private void drain() {
    while (completions.poll(this::onCompletion, BATCH) == BATCH) {
      // The batch was full: there may be more.
    }
  }

  private void onCompletion(
      QueuePair queuePair,
      long workRequestId,
      Opcode opcode,
      CompletionStatus status,
      int byteCount,
      int immediate) {
    if (status != CompletionStatus.SUCCESS) {
      failLocked(status + " " + pair.errorText());
    } else if (opcode == Opcode.RECEIVE_IMMEDIATE && failure == null) {
      String fault =
          Immediate.fault(immediate, Immediate.REPLY, kind.slots, kind.replySize, byteCount);
      if (fault == null) {
        fault = accept(slots.get(Immediate.slot(immediate)), immediate, byteCount);
      }
      if (fault != null) {
        failLocked("malformed reply: " + fault);
        return;
      }
      pair.postReceive(workRequestId);
    }
  }

  private String accept(ClientSlot slot, int immediate, int byteCount) {
    if (Immediate.generation(immediate) != slot.generation) {
      return "generation " + Immediate.generation(immediate) + " is not " + slot.generation;
    }
    switch (slot.state) {
      case POISONED -> release(slot);
      case POSTED -> {
        slot.replySize = byteCount;
        slot.state = ClientSlot.State.REPLIED;
        if (slot.handler == null) {
          LockSupport.unpark(slot.waiter);
        } else {
          slot.parsed = parse(slot);
          asynchronous.decide(slot);
        }
      }
      default -> {
        return "slot " + slot.index + " has no call";
      }
    }
    return null;
  }

  /** The reply in the slot; null, and the connection has failed, when it is damaged. */
  private Reply parse(ClientSlot slot) {
    try {
      return slot.parse(slot.handler == null ? new RpcHeader() : header);
    } catch (InvalidProtocolBufferException e) {
      fail("malformed reply to " + slot.operation + ": " + e.getMessage());
      return null;
    }
  }

  /** Runs the handler of an asynchronous call that is decided; without the lock. */
  private void deliver(ClientSlot slot) {
    ReplyHandler handler;
    Reply reply;
    TakoException failed;
    lock.lock();
    try {
      handler = slot.handler;
      reply = slot.parsed;
      failed = reply == null ? disconnected() : null;
      release(slot);
    } finally {
      lock.unlock();
    }
    if (reply != null) {
      handler.onReply(reply);
    } else {
      handler.onFailure(failed);
    }
  }

  // ---- failures ---------------------------------------------------------------------------------

  private void fail(String why) {
    lock.lock();
    try {
      failLocked(why);
    } finally {
      lock.unlock();
    }
  }

  private void failLocked(String why) {
    if (failure != null) {
      return;
    }
    failure = why;
    for (ClientSlot slot : slots.all()) {
      if (slot.state == ClientSlot.State.POSTED) {
        slot.state = ClientSlot.State.FAILED;
        if (slot.handler != null) {
          asynchronous.decide(slot);
        } else if (slot.waiter != null) {
          polling.wake(slot.waiter);
        }
      }
    }
    slotWaiters.wakeAll(polling);
    asynchronous.failPending();
  }

  private TakoException disconnected() {
    return failures.disconnected(failure);
  }
}
