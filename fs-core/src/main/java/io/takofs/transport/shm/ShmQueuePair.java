package io.takofs.transport.shm;

import io.takofs.base.Invariant;
import io.takofs.base.TakoException;
import io.takofs.base.Undo;
import io.takofs.jni.NativeCore;
import io.takofs.layout.Layout;
import io.takofs.memory.MappedMemory;
import io.takofs.transport.AbstractQueuePair;
import io.takofs.transport.CompletionStatus;
import io.takofs.transport.ConnectionAcceptor;
import io.takofs.transport.QueuePairConfig;
import io.takofs.transport.TransportCounters.Counter;
import io.takofs.transport.WorkRequest;
import io.takofs.transport.staging.StagedWork;
import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One end of a connection. Its state and rings are a block of memory that native code works on
 * ({@code shm_queue_pair}); this object keeps that block, and all it points to, alive.
 *
 * <p>It ends in two steps: {@link #fail} changes the state, from any thread and at once; {@link
 * #release} then closes the socket, takes the peer's memory out of this process and unlocks the
 * inbox.
 */
final class ShmQueuePair extends AbstractQueuePair {
  private static final Logger LOG = LoggerFactory.getLogger(ShmQueuePair.class);
  private static final VarHandle LONG =
      MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
  private static final VarHandle INT =
      MethodHandles.byteBufferViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);
  private static final State[] STATES = State.values();
  private static final CompletionStatus[] STATUSES = CompletionStatus.values();
  private static final int PAGE = 4096;

  private final ShmTransport transport;
  private final QueuePairConfig config;
  private final Inbox inbox;
  private final int inboxEntries;
  private final MappedMemory block;
  private final ByteBuffer fields;
  private final ByteBuffer imports;
  private final StagedWork work;
  private final int receiveSlot;
  private final AtomicBoolean released = new AtomicBoolean();

  // Set once, before the pair is given to anybody.
  private PeerMemory peer;
  private ControlConnection connection;
  private Optional<ConnectionAcceptor> acceptor = Optional.empty();

  private volatile boolean closing;
  private boolean closed;

  /** Makes this side of a pair; it is of use once {@link #connect} was called. */
  ShmQueuePair(ShmTransport transport, QueuePairConfig config, int number, Path inboxPath)
      throws IOException {
    super(number);
    this.transport = transport;
    this.config = config;
    checkDepth("sends", config.maxSends());
    checkDepth("receives", config.maxReceives());
    this.inboxEntries = powerOfTwo(config.maxReceives());
    int sends = powerOfTwo(config.maxSends());
    long receiveIds = Layout.SHM_QUEUE_PAIR_SIZE;
    long sentRing = receiveIds + (long) inboxEntries * Long.BYTES;
    long importsOffset = (sentRing + (long) sends * Layout.SHM_SENT_SIZE + PAGE - 1) & -(long) PAGE;
    int importsSize = Layout.SHM_EXPORTS * Layout.SHM_IMPORT_SIZE;
    this.block = MappedMemory.anonymous(importsOffset + importsSize, false);
    this.fields = block.slice(0, Layout.SHM_QUEUE_PAIR_SIZE);
    this.imports = block.slice(importsOffset, importsSize);
    this.work = new StagedWork(config.domain(), config.maxSends());
    ShmCompletionQueue sendQueue = (ShmCompletionQueue) config.sendQueue();
    ShmCompletionQueue receiveQueue = (ShmCompletionQueue) config.receiveQueue();
    int sendSlot;
    try (Undo undo = new Undo()) {
      this.inbox = new Inbox(inboxPath, inboxEntries);
      undo.add(inbox::unlock);
      this.receiveSlot = receiveQueue.attach(this);
      undo.add(() -> receiveQueue.detach(receiveSlot));
      sendSlot = sendQueue == receiveQueue ? receiveSlot : sendQueue.attach(this);
      undo.keep();
    }

    long base = block.address();
    fields.putLong(Layout.SHM_QUEUE_PAIR_IMPORTS_OFFSET, base + importsOffset);
    fields.putLong(Layout.SHM_QUEUE_PAIR_INBOX_OFFSET, inbox.address());
    fields.putLong(Layout.SHM_QUEUE_PAIR_RECEIVE_IDS_OFFSET, base + receiveIds);
    fields.putLong(Layout.SHM_QUEUE_PAIR_SENT_RING_OFFSET, base + sentRing);
    fields.putLong(Layout.SHM_QUEUE_PAIR_SEND_QUEUE_OFFSET, sendQueue.address());
    fields.putLong(Layout.SHM_QUEUE_PAIR_RECEIVE_QUEUE_OFFSET, receiveQueue.address());
    fields.putInt(Layout.SHM_QUEUE_PAIR_RECEIVE_MASK_OFFSET, inboxEntries - 1);
    fields.putInt(Layout.SHM_QUEUE_PAIR_SENT_MASK_OFFSET, sends - 1);

    fields.putInt(Layout.SHM_QUEUE_PAIR_SEND_SLOT_OFFSET, sendSlot);
    fields.putInt(Layout.SHM_QUEUE_PAIR_RECEIVE_SLOT_OFFSET, receiveSlot);
    NativeCore.attach(receiveQueue.address(), receiveSlot, base);
    if (sendQueue != receiveQueue) {
      NativeCore.attach(sendQueue.address(), sendSlot, base);
    }
  }

  private static void checkDepth(String what, int depth) {
    Invariant.check(
        depth >= 0 && depth <= Layout.SHM_QUEUE_DEPTH_MAX,
        () -> depth + " " + what + " on a queue pair; 0 to " + Layout.SHM_QUEUE_DEPTH_MAX);
  }

  private static int powerOfTwo(int atLeast) {
    return atLeast <= 1 ? 1 : Integer.highestOneBit(atLeast - 1) << 1;
  }

  /** Describes this side to the peer. */
  Offer offer(byte[] privateData) {
    return new Offer(
        "",
        ProcessHandle.current().pid(),
        ((ShmProtectionDomain) config.domain()).directory().toString(),
        ((ShmCompletionQueue) config.receiveQueue()).doorbellPath().toString(),
        inbox.path().toString(),
        receiveSlot,
        inboxEntries,
        privateData);
  }

  /** Maps the peer's side. Once, by the thread that makes the connection. */
  void connect(
      Offer offer,
      ControlConnection connection,
      String remoteName,
      Optional<ConnectionAcceptor> acceptor)
      throws IOException {
    this.peer = new PeerMemory(offer, connection.peerUser(), imports);
    this.connection = connection;
    setRemote(remoteName, offer.privateData());
    this.acceptor = acceptor;
    fields.putLong(Layout.SHM_QUEUE_PAIR_PEER_INBOX_OFFSET, peer.inboxAddress());
    fields.putLong(Layout.SHM_QUEUE_PAIR_PEER_DOORBELL_OFFSET, peer.doorbellAddress());
    fields.putLong(Layout.SHM_QUEUE_PAIR_PEER_EXPORTS_OFFSET, peer.exportsAddress());
    fields.putInt(Layout.SHM_QUEUE_PAIR_PEER_SLOT_OFFSET, offer.slot());
    fields.putInt(Layout.SHM_QUEUE_PAIR_PEER_MASK_OFFSET, offer.receives() - 1);
    transport.counters().add(Counter.CONNECTS, 1);
  }

  @Override
  public State state() {
    return STATES[(int) INT.getVolatile(fields, Layout.SHM_QUEUE_PAIR_STATE_OFFSET)];
  }

  @Override
  protected synchronized void stage(WorkRequest request) {
    Invariant.check(sendSlotsFree() > 0, "more sends staged than the queue pair has slots");
    work.add(request);
  }

  @Override
  public synchronized int sendSlotsFree() {
    long tail = fields.getLong(Layout.SHM_QUEUE_PAIR_SENT_TAIL_OFFSET);
    long head = (long) LONG.getAcquire(fields, Layout.SHM_QUEUE_PAIR_SENT_HEAD_OFFSET);
    return config.maxSends() - work.count() - (int) (tail - head);
  }

  @Override
  public synchronized void ring() {
    if (work.count() == 0) {
      return;
    }
    if (!closed) {
      transport.counters().add(Counter.DOORBELLS, 1);
      transport.counters().add(Counter.SENDS, work.count());
      transport.counters().add(Counter.BYTES, work.localBytes());
      post();
    }
    work.clear();
  }

  private void post() {
    int result;
    do {
      result = NativeCore.post(block.address(), work.address(), work.bytes());
      if (result == NativeCore.POST_WANTS_MAPPING) {
        peer.importRegion(fields.getInt(Layout.SHM_QUEUE_PAIR_WANTED_RKEY_OFFSET));
      }
    } while (result == NativeCore.POST_WANTS_MAPPING);
    if (result == NativeCore.POST_REVOKED) {
      fail("the peer has ended it");
    } else if (result >= NativeCore.POST_FAILED) {
      fail("an operation failed with " + STATUSES[result - NativeCore.POST_FAILED]);
    }
  }

  @Override
  public synchronized void postReceive(long workRequestId) {
    if (closed) {
      return;
    }
    transport.counters().add(Counter.RECEIVES, 1);
    int result = NativeCore.postReceive(block.address(), workRequestId);
    Invariant.check(result == 0, "more receives posted than the queue pair has room for");
  }

  @Override
  public ByteBuffer map(long remoteAddress, int length, int rkey) {
    return state() == State.CONNECTED ? peer.view(remoteAddress, length, rkey) : null;
  }

  /**
   * The peer is told in its view of this side's inbox, at once, and cannot but look there after it
   * has stored bytes and before it counts them. Whether it still has them mapped its lock tells.
   */
  @Override
  public boolean revoke() {
    fail("it was revoked by this side");
    release();
    try {
      return !peer.peerIsAttached();
    } catch (TakoException e) {
      LOG.warn("cannot tell whether {} has unmapped our memory: {}", remoteName(), e.getMessage());
      return false;
    }
  }

  /**
   * Moves to ERROR, and from then on nothing more counts at the peer; the rest happens on the
   * control thread. Any thread.
   */
  void fail(String why) {
    setError("connection to " + remoteName() + " ended: " + why);
    NativeCore.fail(block.address(), Layout.SHM_ERROR);
    if (!released.get()) {
      transport.control().execute(this::release);
    }
  }

  /**
   * Takes the peer's memory out of this process, then tells the peer: by the lock, and by the end
   * of the socket. Once.
   */
  private void release() {
    if (!released.compareAndSet(false, true)) {
      return;
    }
    if (peer != null) {
      peer.detach();
    }
    try {
      inbox.unlock();
    } catch (IOException e) {
      LOG.warn("cannot remove {}: {}", inbox.path(), e.toString());
    }
    if (connection != null) {
      connection.close();
    }
    transport.forget(this);
    if (!closing && acceptor.isPresent()) {
      transport.control().execute(() -> acceptor.get().onDisconnected(this));
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
      NativeCore.fail(block.address(), Layout.SHM_CLOSED);
      transport.counters().add(Counter.QUEUE_PAIRS, -1);
    }
    release();
  }

  /** For messages. */
  @Override
  public String toString() {
    return "shm queue pair " + number() + " to " + remoteName();
  }
}
