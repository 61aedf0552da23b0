package io.takofs.transport.verbs;

import io.takofs.base.Invariant;
import io.takofs.base.TakoException;
import io.takofs.base.Undo;
import io.takofs.jni.NativeError;
import io.takofs.jni.VerbsCore;
import io.takofs.layout.Layout;
import io.takofs.memory.MappedMemory;
import io.takofs.proto.Status;
import io.takofs.transport.AbstractQueuePair;
import io.takofs.transport.Access;
import io.takofs.transport.CompletionStatus;
import io.takofs.transport.ConnectionAcceptor;
import io.takofs.transport.MemoryRegion;
import io.takofs.transport.MemoryWindow;
import io.takofs.transport.Opcode;
import io.takofs.transport.QueuePairConfig;
import io.takofs.transport.ScatterGather;
import io.takofs.transport.TransportCounters.Counter;
import io.takofs.transport.WorkRequest;
import io.takofs.transport.staging.StagedWork;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * One end of a connection: an {@code ibv_qp} and what native code remembers of its posts, in a
 * block of memory that this object keeps alive.
 *
 * <p>It ends in up to three steps: {@link #fail} moves it to ERROR, from any thread, and tells the
 * peer; {@link #revoke} takes it from the device; {@link #close} destroys it.
 *
 * <p>Locks: a post holds this object's monitor, so that nothing is posted to a pair that was
 * destroyed; state changes hold {@code life}. The monitor is taken first.
 */
final class VerbsQueuePair extends AbstractQueuePair {
  /** Work request id of {@link #probe}'s writes, whose completions the pair's owner never sees. */
  static final long PROBE = Long.MIN_VALUE;

  /**
   * Looks, 20 s in all: longer than a device takes to give up on a peer, even one that waits four
   * times as long as it is told.
   */
  private static final int STALLS_MAX = 10;

  private static final VarHandle LONG =
      MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
  private static final VarHandle INT =
      MethodHandles.byteBufferViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);
  private static final State[] STATES = State.values();

  private final VerbsTransport transport;
  private final QueuePairConfig config;
  private final VerbsConnection connection;
  private final Optional<ConnectionAcceptor> acceptor;
  private final VerbsCompletionQueue sendQueue;
  private final VerbsCompletionQueue receiveQueue;
  private final MappedMemory block;
  private final ByteBuffer fields;
  private final StagedWork work;
  private final AtomicBoolean endTold = new AtomicBoolean();
  private final Object life = new Object();

  private volatile boolean closing;
  private boolean destroyed; // guarded by life

  // Guarded by this.
  private final Set<VerbsMemoryWindow> windows = new HashSet<>();
  private long lastProbe = -1; // its index among all sends
  private long headBefore; // at the last look, as is the next
  private long drainedBefore;
  private int stalls; // looks in a row at which nothing more was done, though all was taken
  private boolean established;
  private boolean rung; // and put off
  private boolean windowsStaged;
  private boolean closed;

  /** Makes this side's pair in the device; it is of use once it is {@link #establish}ed. */
  VerbsQueuePair(
      VerbsTransport transport,
      QueuePairConfig config,
      VerbsConnection connection,
      int number,
      String remoteName,
      Optional<ConnectionAcceptor> acceptor)
      throws IOException {
    super(number);
    this.transport = transport;
    this.config = config;
    this.connection = connection;
    setRemote(remoteName, new byte[0]);
    this.acceptor = acceptor;
    this.sendQueue = (VerbsCompletionQueue) config.sendQueue();
    this.receiveQueue = (VerbsCompletionQueue) config.receiveQueue();
    checkDepth("sends", sendDepth());
    checkDepth("receives", config.maxReceives());
    VerbsProtectionDomain domain = (VerbsProtectionDomain) config.domain();
    this.work = new StagedWork(domain, config.maxSends());
    long size = VerbsCore.pairSize(sendDepth(), config.maxReceives());
    this.block = MappedMemory.anonymous(size, false);
    this.fields = block.slice(0, Layout.VERBS_QUEUE_PAIR_SIZE);
    attachAndCreate(domain);
  }

  private void checkDepth(String what, int depth) {
    Invariant.check(
        depth >= 0 && depth <= Layout.VERBS_QUEUE_DEPTH_MAX,
        () -> depth + " " + what + " on a queue pair; 0 to " + Layout.VERBS_QUEUE_DEPTH_MAX);
  }

  /** The owner's sends and one for {@link #probe}. */
  private int sendDepth() {
    return config.maxSends() + 1;
  }

  private void attachAndCreate(VerbsProtectionDomain domain) throws IOException {
    try (Undo undo = new Undo()) {
      VerbsCompletionQueue.Slot receives = attach(receiveQueue, undo);
      VerbsCompletionQueue.Slot sends =
          sendQueue == receiveQueue ? receives : attach(sendQueue, undo);
      int inline = transport.maxInline();
      long pointer =
          connection.createQueuePair(
              domain.domain(),
              sendQueue.completions(),
              receiveQueue.completions(),
              new QueuePairCaps(
                  sendDepth(), Math.max(1, config.maxReceives()), ScatterGather.MAX, inline));
      int result =
          VerbsCore.initPair(
              block.address(),
              pointer,
              sendQueue.address(),
              sends.index(),
              receiveQueue.address(),
              receives.index(),
              receives.generation(),
              sendDepth(),
              config.maxReceives(),
              inline);
      NativeError.check(result, "cannot make a queue pair");
      undo.keep();
    }
  }

  private VerbsCompletionQueue.Slot attach(VerbsCompletionQueue queue, Undo undo)
      throws TakoException {
    int posts = postsIn(queue);
    VerbsCompletionQueue.Slot slot = queue.attach(this, posts);
    undo.add(() -> queue.detach(slot, posts));
    return slot;
  }

  /** Completions that this pair may have in {@code queue} at once. */
  int postsIn(VerbsCompletionQueue queue) {
    int posts = queue == sendQueue ? sendDepth() : 0;
    return queue == receiveQueue ? posts + config.maxReceives() : posts;
  }

  /** Sets the peer's private data. Once, before the transport hands the pair to its user. */
  void setRemotePrivateData(byte[] data) {
    setRemote(remoteName(), data);
  }

  /** The device may send from now on: posts what was rung for before. */
  synchronized void establish() {
    established = true;
    transport.counters().add(Counter.CONNECTS, 1);
    ringAgain();
  }

  private void ringAgain() {
    if (rung && !closed) {
      ring();
    }
  }

  /** The last {@link #probe} is done, whatever became of it. The polling thread. */
  synchronized void onProbed() {
    ringAgain();
  }

  @Override
  public State state() {
    return STATES[(int) INT.getVolatile(fields, Layout.VERBS_QUEUE_PAIR_STATE_OFFSET)];
  }

  @Override
  public synchronized void bind(
      long workRequestId,
      MemoryWindow target,
      MemoryRegion source,
      int offset,
      int length,
      Access access,
      int flags)
      throws IOException {
    VerbsMemoryWindow window = (VerbsMemoryWindow) target;
    VerbsMemoryRegion region = (VerbsMemoryRegion) source;
    Invariant.check(sendSlotsFree() > 0, "more sends staged than the queue pair has slots");
    Invariant.check(
        region.allows((VerbsProtectionDomain) config.domain(), offset, length),
        "a window lies within an open region of its domain");
    windows.add(window); // to be closed with this pair, whatever becomes of the binding
    windowsStaged = true;
    long registration = window.cover(region, offset, length);
    long address = region.address() + offset;
    WorkRequest request =
        new WorkRequest()
            .set(Opcode.BIND_WINDOW, workRequestId, address, window.nextRkey(), flags)
            .withImmediate(VerbsMemoryWindow.accessFlags(access))
            .withOperands(window.pointer(), registration);
    work.addWithoutMemory(request, length);
  }

  @Override
  public synchronized void invalidate(long workRequestId, MemoryWindow window, int flags) {
    Invariant.check(sendSlotsFree() > 0, "more sends staged than the queue pair has slots");
    windowsStaged = true;
    Opcode opcode = Opcode.INVALIDATE_WINDOW;
    work.add(new WorkRequest().set(opcode, workRequestId, 0, window.rkey(), flags));
  }

  @Override
  protected synchronized void stage(WorkRequest request) {
    Invariant.check(sendSlotsFree() > 0, "more sends staged than the queue pair has slots");
    work.add(request);
  }

  @Override
  public synchronized int sendSlotsFree() {
    long head = sentHead();
    int owners = (int) (sentTail() - head) - (lastProbe >= head ? 1 : 0);
    return config.maxSends() - work.count() - owners;
  }

  /** Sends ever posted. */
  private long sentTail() {
    return fields.getLong(Layout.VERBS_QUEUE_PAIR_SENT_TAIL_OFFSET);
  }

  /** Sends ever known to be done. */
  private long sentHead() {
    return (long) LONG.getAcquire(fields, Layout.VERBS_QUEUE_PAIR_SENT_HEAD_OFFSET);
  }

  /**
   * Asks the peer's device for a sign of life, unless something that it must acknowledge is under
   * way anyway: a device that does not answer fails the pair, but only if it is asked. A device of
   * this side that has forgotten a send is found out as well: soft-RoCE now and then stands still
   * when packets are lost around window operations. Any thread, every {@link
   * VerbsTransport#PROBE_INTERVAL_NS}.
   */
  synchronized void probe() {
    if (!established || closed || state() != State.CONNECTED) {
      return;
    }
    long head = sentHead();
    long drained = sendQueue.timesDrained();
    boolean idle = sentTail() == head;
    stalls = idle || head != headBefore || drained == drainedBefore ? 0 : stalls + 1;
    headBefore = head;
    drainedBefore = drained;
    if (stalls == STALLS_MAX) {
      fail("the RDMA device of this side has not completed a send for too long");
    } else if (idle && work.count() == 0) {
      lastProbe = head;
      // Of nothing: it touches no memory, and the peer's device acknowledges it.
      work.add(new WorkRequest().set(Opcode.WRITE, PROBE, 0, 0, SIGNALED));
      post();
    }
  }

  @Override
  public synchronized void ring() {
    rung = mustWait();
    if (rung || work.count() == 0) {
      return;
    }
    if (closed) {
      work.clear();
      return;
    }
    transport.counters().add(Counter.DOORBELLS, 1);
    transport.counters().add(Counter.SENDS, work.count());
    transport.counters().add(Counter.BYTES, work.localBytes());
    post();
  }

  /**
   * Until there is a connection; and, with something for windows, until a probe is done: soft-RoCE
   * does that twice, and fails, when a write before it has to be sent again. Reads are waited for
   * by the device.
   */
  private boolean mustWait() {
    if (closing || state() == State.ERROR) {
      return false;
    }
    return !established || (windowsStaged && lastProbe >= sentHead());
  }

  private void post() {
    windowsStaged = false;
    int result = VerbsCore.post(block.address(), work.address(), work.count());
    work.clear();
    if (result == VerbsCore.POST_REFUSED) {
      fail("an operation failed with " + CompletionStatus.LOCAL_ACCESS_ERROR);
    } else if (result < 0) {
      fail("the device took no more sends (errno " + -result + ")");
    }
  }

  @Override
  public synchronized void postReceive(long workRequestId) {
    if (closed) {
      return;
    }
    int free = config.maxReceives() - receivesPosted();
    Invariant.check(free > 0, "more receives posted than the queue pair has room for");
    transport.counters().add(Counter.RECEIVES, 1);
    int result = VerbsCore.postReceive(block.address(), workRequestId);
    if (result < 0) {
      fail("the device took no more receives (errno " + -result + ")");
    }
  }

  private int receivesPosted() {
    long tail = fields.getLong(Layout.VERBS_QUEUE_PAIR_RECEIVED_TAIL_OFFSET);
    return (int)
        (tail - (long) LONG.getAcquire(fields, Layout.VERBS_QUEUE_PAIR_RECEIVED_HEAD_OFFSET));
  }

  /** The device copies; nobody maps the memory of another host. */
  @Override
  public ByteBuffer map(long remoteAddress, int length, int rkey) {
    return null;
  }

  /** A completion says that the pair is in error. The polling thread, before it is delivered. */
  void onFailedCompletion(CompletionStatus status, int deviceStatus, int vendorError) {
    if (status == CompletionStatus.FLUSHED) {
      fail("the device gave it up");
    } else {
      fail(
          "an operation failed with "
              + status
              + " (ibv_wc_status "
              + deviceStatus
              + ", vendor error "
              + vendorError
              + ")");
    }
  }

  /** Moves to ERROR and tells the peer and the acceptor, once. Any thread. */
  void fail(String why) {
    if (!setError("connection to " + remoteName() + " ended: " + why)) {
      return;
    }
    synchronized (life) {
      if (!destroyed) {
        VerbsCore.fail(block.address(), Layout.VERBS_ERROR);
        connection.disconnect();
      }
    }
    tellEnd();
  }

  private void tellEnd() {
    if (!closing && acceptor.isPresent() && endTold.compareAndSet(false, true)) {
      transport.execute(
          () -> {
            if (!closing) {
              acceptor.get().onDisconnected(this);
            }
          });
    }
  }

  /**
   * In error the device takes no more of the peer's packets, and in reset it has placed what it
   * acknowledged. Memory is registered without relaxed ordering, so the device's word that the pair
   * is reset comes after all that it placed.
   */
  @Override
  public boolean revoke() {
    fail("it was revoked by this side");
    synchronized (life) {
      int result = destroyed ? 0 : VerbsCore.end(block.address());
      if (result < 0) {
        throw new UncheckedIOException(
            new TakoException(
                Status.UNAVAILABLE,
                "the RDMA device does not reset "
                    + this
                    + " (errno "
                    + -result
                    + "), so its peer may still write; revoke it again"));
      }
      return true;
    }
  }

  @Override
  public void close() {
    closing = true;
    synchronized (this) {
      if (closed) {
        return;
      }
      fail("it was closed by this side");
      ring();
      closed = true;
    }
    synchronized (life) {
      VerbsCore.end(block.address());
      destroyed = true;
    }
    // A device may keep a queue pair for as long as a window is bound through it.
    windows.forEach(VerbsMemoryWindow::close);
    // Without a lock: it waits for an event of this connection that is being handled.
    connection.close();
    VerbsCore.fail(block.address(), Layout.VERBS_CLOSED);
    sendQueue.pairLeft();
    if (receiveQueue != sendQueue) {
      receiveQueue.pairLeft();
    }
    transport.forget(this, connection);
  }

  /** For messages. */
  @Override
  public String toString() {
    return "verbs queue pair " + number() + " to " + remoteName();
  }
}
