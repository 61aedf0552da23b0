package io.takofs.transport.tcp;

import io.netty.util.concurrent.Future;
import io.takofs.layout.Layout;
import io.takofs.transport.AbstractQueuePair;
import io.takofs.transport.CompletionStatus;
import io.takofs.transport.Opcode;
import io.takofs.transport.QueuePair;
import io.takofs.transport.QueuePairConfig;
import io.takofs.transport.ScatterGather;
import io.takofs.transport.TransportCounters;
import io.takofs.transport.TransportCounters.Counter;
import io.takofs.transport.WorkRequest;
import java.nio.ByteBuffer;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * A queue pair over one TCP connection.
 *
 * <p>Thread rule: as the SPI says for its methods; the others belong to the connection's event
 * loop. State of both sides is guarded by {@code lock}, taken after {@link TcpInbound#applying}.
 */
final class TcpQueuePair extends AbstractQueuePair {
  /** Silent quarters of the operation timeout after which the peer counts as dead. */
  private static final int TICKS = 4;

  /** Time that a peer that broke a rule has to close the connection after it is told. */
  private static final long LINGER_NS = TimeUnit.SECONDS.toNanos(1);

  private static final String TOO_MANY_REQUESTS =
      "the peer has more requests outstanding than it said it would";

  /** Own pings and answers to pings, beyond what requests cause. */
  private static final int SPARE_RESPONSES = 16;

  private final Object lock = new Object();
  private final TcpTransport transport;
  private final TcpChannel channel;
  private final TcpSettings settings;
  private final TransportCounters counters;
  private final TcpProtectionDomain domain;
  private final TcpCompletionQueue sendCompletions;
  private final TcpCompletionQueue receiveCompletions;
  private final TcpInbound inbound;
  private final TcpOutbound outbound;
  private final TcpRequester requester;
  private final Future<?> ticks;
  private Consumer<QueuePair> onDisconnected;
  private int silentTicks;

  // Guarded by lock.
  private final TcpReceiveQueue receives;
  private long owed;
  private long acknowledged;
  private boolean acknowledgeNow;
  private boolean awaitingReceive;
  private boolean corked;
  private String refusal;
  private volatile State state = State.CONNECTED;

  /**
   * On the channel's event loop.
   *
   * @param peerMaxSends operations that the peer may have outstanding
   */
  TcpQueuePair(
      TcpTransport transport,
      int number,
      TcpChannel channel,
      QueuePairConfig config,
      int peerMaxSends,
      byte[] remotePrivateData) {
    super(number);
    this.channel = channel;
    setRemote(channel.remoteName(), remotePrivateData);
    this.transport = transport;
    this.settings = transport.settings();
    this.counters = transport.counters();
    this.domain = (TcpProtectionDomain) config.domain();
    this.sendCompletions = (TcpCompletionQueue) config.sendQueue();
    this.receiveCompletions = (TcpCompletionQueue) config.receiveQueue();
    this.receives = new TcpReceiveQueue(config.maxReceives());
    this.inbound = new TcpInbound(this);
    this.outbound = new TcpOutbound(lock, channel, 2 * peerMaxSends + SPARE_RESPONSES);
    this.requester = new TcpRequester(this, outbound, config);
    domain.add(this);
    counters.add(Counter.QUEUE_PAIRS, 1);
    long tickNs = Math.max(1, settings.operationTimeoutNs() / TICKS);
    this.ticks =
        channel
            .eventLoop()
            .scheduleWithFixedDelay(this::tick, tickNs, tickNs, TimeUnit.NANOSECONDS);
    channel.input(inbound);
  }

  /** Sets the listener for a connection that breaks without a close from this side. */
  void onDisconnected(Consumer<QueuePair> listener) {
    onDisconnected = listener;
  }

  /**
   * Keeps everything from the peer until {@link #open}, after the answer that makes its side of the
   * pair.
   */
  void keepClosed(ByteBuffer answer) {
    synchronized (lock) {
      outbound.hold();
      outbound.add(answer);
    }
  }

  void open() {
    synchronized (lock) {
      outbound.release();
    }
    outbound.flush();
  }

  TcpProtectionDomain domain() {
    return domain;
  }

  // ---- the SPI
  // -----------------------------------------------------------------------------------

  @Override
  public State state() {
    return state;
  }

  @Override
  protected void stage(WorkRequest request) {
    requester.stage(request);
  }

  @Override
  public void ring() {
    if (requester.stagedCount() == 0) {
      return;
    }
    counters.add(Counter.DOORBELLS, 1);
    counters.add(Counter.SENDS, requester.stagedCount());
    counters.add(Counter.BYTES, requester.takeStagedBytes());
    boolean failed;
    boolean valid;
    synchronized (lock) {
      if (state != State.CONNECTED) {
        requester.flush(CompletionStatus.FLUSHED, true);
        signalLater();
        return;
      }
      valid = acknowledgeIfOwed();
      requester.post(System.nanoTime());
      failed = requester.mustFailLocally();
      if (requester.isHalted() && !failed) {
        outbound.addResponse(Layout.TCP_PING, 0, 0, 0, 0);
      }
      if (valid && !failed && corked && channel.eventLoop().inEventLoop()) {
        return; // It goes out with the rest of the batch.
      }
    }
    if (!valid) {
      breakOff(TOO_MANY_REQUESTS);
    } else if (failed) {
      failLocally();
    } else {
      outbound.flush();
    }
  }

  @Override
  public int sendSlotsFree() {
    return requester.slotsFree();
  }

  @Override
  public void postReceive(long workRequestId) {
    boolean resume;
    synchronized (lock) {
      receives.hold();
      counters.add(Counter.RECEIVES, 1);
      if (state == State.CONNECTED) {
        receives.add(workRequestId);
      } else {
        flushReceive(workRequestId);
        signalLater();
      }
      resume = awaitingReceive;
      awaitingReceive = false;
    }
    if (resume) {
      channel.onLoop(inbound::resume);
    }
  }

  @Override
  public ByteBuffer map(long remoteAddress, int length, int rkey) {
    return null;
  }

  @Override
  public boolean revoke() {
    end(State.ERROR, CompletionStatus.FLUSHED, "revoked by this side");
    return true;
  }

  @Override
  public void close() {
    end(State.CLOSED, CompletionStatus.FLUSHED, "closed by this side");
  }

  // ---- for the inbound side
  // ------------------------------------------------------------------------

  /** When it returns nothing is applied to the region any more. */
  void regionClosed(TcpMemoryRegion region) {
    inbound.regionClosed(region);
  }

  /** Consumes a receive for a write with immediate; false when none is posted. */
  boolean receiveImmediate(int byteCount, int immediate) {
    synchronized (lock) {
      if (receives.isEmpty()) {
        return false;
      }
      receiveCompletions.add(
          this,
          receives.remove(),
          Opcode.RECEIVE_IMMEDIATE,
          CompletionStatus.SUCCESS,
          byteCount,
          immediate);
      return true;
    }
  }

  private void flushReceive(long workRequestId) {
    receiveCompletions.add(
        this, workRequestId, Opcode.RECEIVE_IMMEDIATE, CompletionStatus.FLUSHED, 0, 0);
  }

  /** Stops reading until a receive is posted, for a while. */
  void awaitReceive(long request) {
    boolean posted;
    synchronized (lock) {
      posted = !receives.isEmpty();
      awaitingReceive = !posted;
    }
    channel.config().setAutoRead(false);
    if (posted) {
      channel.onLoop(inbound::resume);
    }
    channel.onLoop(() -> inbound.receiverTimedOut(request), settings.receiverTimeoutNs());
  }

  void readOn() {
    if (channel.isOpen()) {
      channel.config().setAutoRead(true);
    }
  }

  /** The peer's requests up to {@code request} are applied. */
  void owe(long request, boolean now) {
    synchronized (lock) {
      owed = request;
      acknowledgeNow |= now;
    }
  }

  /** Adds the acknowledgement that is owed. Lock held. */
  private boolean acknowledgeIfOwed() {
    boolean due = owed != acknowledged || acknowledgeNow;
    acknowledged = owed;
    acknowledgeNow = false;
    return !due || outbound.addResponse(Layout.TCP_ACKNOWLEDGE, 0, 0, owed, 0);
  }

  /** Answers a read or an atomic operation. */
  void respond(int opcode, long request, long operand, ByteBuffer payload) {
    boolean added;
    synchronized (lock) {
      owed = request;
      acknowledged = request;
      int length = payload == null ? 0 : payload.remaining();
      added = outbound.addResponse(opcode, length, 0, request, operand);
      if (added && payload != null) {
        outbound.add(payload);
      }
    }
    if (!added) {
      breakOff(TOO_MANY_REQUESTS);
    }
  }

  /** Refuses a request of the peer, which then ends the connection. */
  void refuse(long request, int reason, String text) {
    synchronized (lock) {
      refusal = "refused its peer " + remoteName() + " " + text;
      acknowledged = request;
      outbound.addResponse(Layout.TCP_REFUSE, 0, reason, request, 0);
    }
    channel.onLoop(() -> disconnected("the peer stayed"), LINGER_NS);
  }

  /** The peer did all requests up to {@code request}. */
  void acknowledged(long request, boolean withResult) {
    boolean valid;
    boolean failed;
    synchronized (lock) {
      valid = requester.acknowledge(request, withResult, System.nanoTime());
      failed = requester.mustFailLocally();
    }
    if (!valid) {
      breakOff("the peer acknowledged what it was not asked for");
    } else if (failed) {
      failLocally();
    }
  }

  private void failLocally() {
    end(
        State.ERROR,
        CompletionStatus.LOCAL_ACCESS_ERROR,
        "a local buffer of an operation on " + remoteName() + " is not inside an open region");
  }

  /** The peer refused a request. */
  void refused(long request, int reason) {
    acknowledged(request - 1, false);
    boolean noReceive = reason == Layout.TCP_REFUSE_NO_RECEIVE;
    end(
        State.ERROR,
        noReceive ? CompletionStatus.RECEIVER_NOT_READY : CompletionStatus.REMOTE_ACCESS_ERROR,
        remoteName()
            + (noReceive
                ? " had no receive posted in time"
                : " refused an operation: unknown key, outside the region, or not allowed"));
  }

  ScatterGather resultOf(long request, boolean atomic, int length) {
    synchronized (lock) {
      return requester.resultOf(request, atomic, length);
    }
  }

  /** Completions were added: upper layers run, then what they and the peer are owed goes out. */
  void batchDone() {
    synchronized (lock) {
      corked = true;
    }
    try {
      sendCompletions.signal(null);
      receiveCompletions.signal(null);
    } finally {
      boolean valid;
      synchronized (lock) {
        corked = false;
        valid = state != State.CONNECTED || !acknowledgeNow || acknowledgeIfOwed();
      }
      if (!valid) {
        breakOff(TOO_MANY_REQUESTS);
      }
      outbound.flush();
    }
  }

  /** Frees what a completion held. */
  void completionPolled(Opcode opcode) {
    if (opcode == Opcode.RECEIVE_IMMEDIATE) {
      synchronized (lock) {
        receives.release();
      }
    } else {
      requester.slotReleased();
    }
  }

  // ---- the end
  // -------------------------------------------------------------------------------------

  /** The connection is of no more use. */
  void breakOff(String reason) {
    end(State.ERROR, CompletionStatus.FLUSHED, remoteName() + ": " + reason);
  }

  /** The connection is gone. */
  void disconnected(String reason) {
    String text;
    synchronized (lock) {
      text = refusal != null ? refusal : remoteName() + ": " + reason;
    }
    end(State.ERROR, CompletionStatus.FLUSHED, text);
  }

  /** Watches over a peer that says nothing. */
  private void tick() {
    boolean heard = inbound.takeHeard();
    silentTicks = heard ? 0 : silentTicks + 1;
    long timeoutNs = settings.operationTimeoutNs();
    boolean late;
    synchronized (lock) {
      if (state != State.CONNECTED) {
        return;
      }
      late = requester.headAgeNs(System.nanoTime()) >= timeoutNs || silentTicks >= TICKS;
      if (!late && (silentTicks > 0 || !requester.isIdle())) {
        outbound.addResponse(Layout.TCP_PING, 0, 0, 0, 0);
      }
    }
    if (late) {
      end(
          State.ERROR,
          CompletionStatus.RETRY_EXCEEDED,
          remoteName()
              + " has not answered for "
              + TimeUnit.NANOSECONDS.toMillis(timeoutNs)
              + " ms");
    } else {
      outbound.flush();
    }
  }

  /**
   * Leaves CONNECTED, from any thread. When it returns nothing is applied and nothing read from
   * local memory any more, and everything outstanding has its completion. It waits for bytes that
   * are being applied; an acknowledgement is owed only for what was applied before, so one that is
   * still on its way says nothing of what is not in memory.
   */
  private void end(State target, CompletionStatus oldest, String text) {
    boolean first;
    inbound.applying.lock();
    try {
      synchronized (lock) {
        first = state == State.CONNECTED;
        if (target == State.CLOSED && state != State.CLOSED) {
          counters.add(Counter.QUEUE_PAIRS, -1);
        }
        if (first) {
          setError(text);
        }
        if (target == State.CLOSED || first) {
          state = target;
        }
        if (first) {
          inbound.end();
          channel.closeNow();
          outbound.drop();
          requester.flush(oldest, false);
          while (!receives.isEmpty()) {
            flushReceive(receives.remove());
          }
        }
      }
    } finally {
      inbound.applying.unlock();
    }
    if (first) {
      domain.remove(this);
      ticks.cancel(false);
      transport.forget(this);
      signalLater();
      boolean byPeer = target == State.ERROR;
      channel.onLoop(() -> tellOfEnd(byPeer));
    }
  }

  private void tellOfEnd(boolean byPeer) {
    if (byPeer && state != State.CLOSED && onDisconnected != null) {
      onDisconnected.accept(this);
    }
  }

  /** Tells pollers; callbacks run on the event loop, later. */
  private void signalLater() {
    sendCompletions.signal(channel);
    receiveCompletions.signal(channel);
  }
}
