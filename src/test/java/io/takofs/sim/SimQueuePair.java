package io.takofs.sim;

import io.takofs.base.Invariant;
import io.takofs.layout.Layout;
import io.takofs.memory.MappedMemory;
import io.takofs.transport.AbstractQueuePair;
import io.takofs.transport.Access;
import io.takofs.transport.CompletionStatus;
import io.takofs.transport.ConnectionAcceptor;
import io.takofs.transport.MemoryRegion;
import io.takofs.transport.MemoryWindow;
import io.takofs.transport.Opcode;
import io.takofs.transport.QueuePairConfig;
import io.takofs.transport.TransportCounters.Counter;
import io.takofs.transport.WorkRequest;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * One end of a simulated connection. It promises what the SPI promises and uses every freedom the
 * SPI leaves: bytes of a write land in any order and together with those of later writes; what was
 * under way when a pair ended may have landed, in parts, or still land until the other end is in
 * error too.
 *
 * <p>A revocation is that of a network card, which ends everything at once, or that of peers that
 * share memory, as chance decides ({@link SimConditions#lateRevokeChance}): then the peer goes on
 * until it learns of the end, and its stores land for a while. In both, an operation is
 * acknowledged only if all of it was placed while the target was connected.
 */
final class SimQueuePair extends AbstractQueuePair {
  private static final long NS_PER_BYTE = 20;
  private static final long RETRY_NS = 1_000_000;
  private static final int RETRIES_MAX = 20;
  private static final long NOT_READY_RETRY_NS = 20_000;
  private static final int NOT_READY_RETRIES_MAX = 7;
  private static final long KEEPALIVE_NS = 100_000_000;
  private static final long LATE_LANDING_MAX_NS = 5_000_000_000L;

  private final SimTransport transport;
  private final SimNetwork network;
  private final QueuePairConfig config;
  private final ConnectionAcceptor acceptor; // null on the connecting side
  private final List<SimWorkRequest> staged = new ArrayList<>();
  private final ArrayDeque<SimWorkRequest> inFlight = new ArrayDeque<>();
  private final ArrayDeque<Long> receives = new ArrayDeque<>();
  private final Map<SimWorkRequest, Runnable> onStart = new HashMap<>(); // of windows' operations
  private final List<SimWindow.Binding> unflushed = new ArrayList<>();
  private SimQueuePair peer;
  private State state = State.CONNECTED;
  private long lastSequence;
  private long freedSequence;
  private long lastArrivalNs;
  private long lastAckNs;
  private long landingEndsNs = Long.MAX_VALUE;

  SimQueuePair(
      SimTransport transport,
      QueuePairConfig config,
      String remoteName,
      byte[] remoteData,
      ConnectionAcceptor acceptor) {
    super(transport.network().nextNumber());
    this.transport = transport;
    this.network = transport.network();
    this.config = config;
    setRemote(remoteName, remoteData);
    this.acceptor = acceptor;
  }

  void link(SimQueuePair otherEnd) {
    peer = otherEnd;
  }

  @Override
  public State state() {
    return state;
  }

  // ---- posting

  @Override
  public void bind(
      long id,
      MemoryWindow target,
      MemoryRegion region,
      int offset,
      int length,
      Access access,
      int flags) {
    SimWindow window = (SimWindow) target;
    Invariant.check(offset >= 0 && offset <= region.length() - length, "a window is in its region");
    window.setKey(window.domain().nextKey());
    SimWindow.Binding binding =
        new SimWindow.Binding(this, (SimRegion) region, offset, length, access);
    int rkey = window.rkey();
    stage(new WorkRequest().set(Opcode.BIND_WINDOW, id, 0, rkey, flags));
    onStart.put(staged.get(staged.size() - 1), () -> window.domain().bind(rkey, binding));
  }

  @Override
  public void invalidate(long id, MemoryWindow target, int flags) {
    SimDomain domain = ((SimWindow) target).domain();
    int rkey = target.rkey();
    stage(new WorkRequest().set(Opcode.INVALIDATE_WINDOW, id, 0, rkey, flags));
    onStart.put(
        staged.get(staged.size() - 1),
        () -> {
          SimWindow.Binding binding = domain.endBinding(rkey);
          if (binding != null) {
            unflushed.add(binding);
          }
        });
  }

  @Override
  protected void stage(WorkRequest request) {
    checkUsable();
    Invariant.check(sendSlotsFree() > 0, "no more sends are staged than there are slots");
    staged.add(new SimWorkRequest(++lastSequence, request));
  }

  @Override
  public void ring() {
    checkUsable();
    transport.counters().add(Counter.DOORBELLS, 1);
    transport.counters().add(Counter.SENDS, staged.size());
    for (SimWorkRequest request : staged) {
      transport.counters().add(Counter.BYTES, request.length());
    }
    inFlight.addAll(staged);
    if (state == State.ERROR) {
      staged.clear();
      flushSends(CompletionStatus.FLUSHED);
      return;
    }
    for (SimWorkRequest request : staged) {
      lastArrivalNs = Math.max(lastArrivalNs, now() + latencyNs());
      network.schedule(lastArrivalNs - now(), () -> arrive(request));
      if (network.happens(network.conditions().dropChance())) {
        network.schedule(2 * latencyNs(), this::breakConnection);
      }
    }
    staged.clear();
  }

  private void checkUsable() {
    transport.process().checkAlive();
    Invariant.check(state != State.CLOSED, "a closed pair is not used");
  }

  @Override
  public int sendSlotsFree() {
    return config.maxSends() - (int) (lastSequence - freedSequence);
  }

  /** A completion was polled; 0 is that of a receive. */
  void completionPolled(long sendSequence) {
    freedSequence = Math.max(freedSequence, sendSequence);
  }

  @Override
  public void postReceive(long workRequestId) {
    checkUsable();
    Invariant.check(receives.size() < config.maxReceives(), "no more receives than asked for");
    transport.counters().add(Counter.RECEIVES, 1);
    receives.add(workRequestId);
    if (state == State.ERROR) {
      flushReceives();
    }
  }

  // ---- moving bytes

  private void arrive(SimWorkRequest request) {
    request.arrived = true;
    startWhatMay();
  }

  /** Operations start in order; those that look at the target wait for all before them. */
  private void startWhatMay() {
    if (state != State.CONNECTED) {
      return;
    }
    boolean allDelivered = true;
    for (SimWorkRequest request : inFlight) {
      if (!request.isStarted()) {
        if (!request.arrived || (request.waitsForEarlier() && !allDelivered)) {
          return;
        }
        start(request);
      }
      if (request.failure != null) {
        return;
      }
      allDelivered &= request.delivered;
    }
  }

  private void start(SimWorkRequest request) {
    if (request.isOfWindow()) {
      onStart.remove(request).run();
    }
    request.failure =
        request.resolve((SimDomain) config.domain(), (SimDomain) peer.config.domain(), peer);
    if (request.failure != null) {
      request.groupsLeft = 0;
      network.schedule(0, this::deliverWhatMay);
      return;
    }
    request.trace(network.scheduler().trace());
    Placement placement = new Placement(network.scheduler().random(), request.length());
    request.groupsLeft = Math.max(1, request.isAtomic() ? 1 : placement.groups());
    long durationNs = 100 + request.length() * NS_PER_BYTE;
    for (int group = 0; group < request.groupsLeft; group++) {
      int moving = group;
      network.schedule(
          network.scheduler().delayNs(0, durationNs), () -> moveGroup(request, placement, moving));
    }
  }

  private void moveGroup(SimWorkRequest request, Placement placement, int group) {
    if (!request.late && (request.isDetached() || isStalled())) {
      // The sender is gone or stands. Its last packets may take as long as the other end lets them.
      request.late = true;
      network.schedule(
          network.scheduler().delayNs(0, LATE_LANDING_MAX_NS),
          () -> moveGroup(request, placement, group));
      return;
    }
    if (!mayLand(request)) {
      return;
    }
    if (isLost(request)) {
      retryLost(request, () -> moveGroup(request, placement, group));
      return;
    }
    if (request.failure == null) {
      boolean refused = request.isOvertaken() && network.scheduler().random().nextBoolean();
      request.failure = refused ? CompletionStatus.REMOTE_ACCESS_ERROR : request.stillResolved();
    }
    if (request.failure == null) {
      if (request.isAtomic()) {
        request.swap();
      } else if (request.length() > 0) {
        placement.forEachRange(group, request::move);
        request.tell(network.stores(), this::client);
      }
    }
    request.groupsLeft--;
    deliverWhatMay();
    startWhatMay();
  }

  /** The client at this end, as it said when it connected to a server; 0 when it said nothing. */
  private long client() {
    byte[] data = peer.remotePrivateData();
    return data.length < Layout.CONNECTION_SIZE
        ? 0
        : ByteBuffer.wrap(data)
            .order(ByteOrder.LITTLE_ENDIAN)
            .getLong(Layout.CONNECTION_CLIENT_ID_OFFSET);
  }

  /** As {@link SimNetwork#isStoring}, over this connection. */
  boolean isStoring(long client, MappedMemory arena, int offset, int length) {
    return peer.state == State.CONNECTED
        && !inFlight.isEmpty()
        && client() == client
        && inFlight.stream()
            .anyMatch(
                each -> each.mayStoreTo((SimDomain) peer.config.domain(), arena, offset, length));
  }

  /** Whether pieces of {@code request} still move. */
  private boolean mayLand(SimWorkRequest request) {
    boolean targetLets = peer.state == State.CONNECTED || now() < peer.landingEndsNs;
    boolean senderSends =
        state == State.CONNECTED
            || (request.isDetached() && network.scheduler().random().nextBoolean());
    return targetLets && senderSends;
  }

  private void retryLost(SimWorkRequest request, Runnable again) {
    if (++request.lostCount > RETRIES_MAX) {
      enterError(
          CompletionStatus.RETRY_EXCEEDED, remoteName() + " did not answer within the retry limit");
    } else {
      network.schedule(RETRY_NS, again);
    }
  }

  /** The target has operations in order, whatever order their bytes came in. */
  private void deliverWhatMay() {
    if (state != State.CONNECTED || peer.state != State.CONNECTED) {
      return;
    }
    for (SimWorkRequest request : inFlight) {
      if (!request.delivered) {
        if (!request.isPlaced() || !takeReceive(request)) {
          return;
        }
        request.delivered = true;
        if (request.opcode() == Opcode.READ) {
          unflushed.forEach(binding -> binding.flushed = true);
          unflushed.clear();
        }
        lastAckNs = Math.max(lastAckNs, now() + latencyNs());
        network.schedule(lastAckNs - now(), () -> acknowledge(request));
        if (request.failure != null) {
          return;
        }
      }
    }
  }

  /** Hands an immediate over; false when it must be tried again later. */
  private boolean takeReceive(SimWorkRequest request) {
    if (request.opcode() != Opcode.WRITE_WITH_IMMEDIATE || request.failure != null) {
      return true;
    }
    Long receive = peer.receives.poll();
    if (receive != null) {
      ((SimCompletionQueue) peer.config.receiveQueue())
          .addReceive(
              peer, receive, CompletionStatus.SUCCESS, request.length(), request.immediate());
      return true;
    }
    if (++request.notReadyCount > NOT_READY_RETRIES_MAX) {
      request.failure = CompletionStatus.RECEIVER_NOT_READY;
      return true;
    }
    network.schedule(NOT_READY_RETRY_NS, this::deliverWhatMay);
    return false;
  }

  private void acknowledge(SimWorkRequest request) {
    if (state != State.CONNECTED) {
      return;
    }
    if (answersAreLost()) {
      retryLost(request, () -> acknowledge(request));
    } else if (inFlight.peek() != request) {
      // An earlier acknowledgement was lost; this one includes it, but is itself sent again.
      network.schedule(RETRY_NS, () -> acknowledge(request));
    } else if (request.failure != null) {
      enterError(request.failure, remoteName() + ": " + request.opcode() + " " + request.failure);
    } else {
      inFlight.remove();
      if (request.isSignaled()) {
        sendQueue().addSend(this, request, CompletionStatus.SUCCESS);
      }
      startWhatMay();
    }
  }

  // ---- ending

  /** The connection is lost in the middle of whatever is under way. */
  void breakConnection() {
    enterError(CompletionStatus.FLUSHED, "the connection to " + remoteName() + " broke");
  }

  /**
   * Moves to ERROR.
   *
   * @param first how the oldest outstanding send ends
   */
  private void enterError(CompletionStatus first, String why) {
    if (state != State.CONNECTED) {
      return;
    }
    endAs(State.ERROR, why);
    flushSends(first);
    flushReceives();
    if (acceptor != null) {
      transport.schedule(
          0,
          () -> {
            if (state == State.ERROR) {
              acceptor.onDisconnected(this);
            }
          });
    }
  }

  @Override
  public boolean revoke() {
    enterError(CompletionStatus.FLUSHED, remoteName() + " was revoked");
    return now() >= landingEndsNs;
  }

  @Override
  public void close() {
    if (state == State.CONNECTED) {
      endAs(State.CLOSED, "");
    }
    inFlight.addAll(staged);
    staged.clear();
    flushSends(CompletionStatus.FLUSHED);
    flushReceives();
    state = State.CLOSED;
    transport.remove(this);
  }

  /** The process of this end is dead: no completion, no callback. */
  void die() {
    if (state == State.CONNECTED) {
      endAs(State.CLOSED, "");
    }
    // Its network card forgets the pair with it; a peer that shares its memory may go on.
    landingEndsNs = Math.min(landingEndsNs, now() + network.strayNs());
    state = State.CLOSED;
    transport.remove(this);
  }

  private void endAs(State end, String why) {
    for (SimWorkRequest request : inFlight) {
      if (request.isStarted() && !request.isPlaced() && request.failure == null) {
        request.detachFromSender();
      }
    }
    setError(why);
    state = end;
    boolean late = network.happens(network.conditions().lateRevokeChance());
    landingEndsNs = now() + (late ? network.scheduler().delayNs(0, LATE_LANDING_MAX_NS) : 0);
    if (peer != null) {
      long noticeNs = requestsAreLost() ? KEEPALIVE_NS : latencyNs();
      network.schedule(noticeNs, () -> peer.peerEnded(why));
    }
  }

  private void peerEnded(String why) {
    String reason = why.isEmpty() ? "" : " (" + why + ")";
    enterError(CompletionStatus.FLUSHED, remoteName() + " ended the connection" + reason);
  }

  private void flushSends(CompletionStatus first) {
    CompletionStatus status = first;
    for (SimWorkRequest request : inFlight) {
      sendQueue().addSend(this, request, status);
      status = CompletionStatus.FLUSHED;
    }
    inFlight.clear();
  }

  private void flushReceives() {
    for (long id : receives) {
      ((SimCompletionQueue) config.receiveQueue())
          .addReceive(this, id, CompletionStatus.FLUSHED, 0, 0);
    }
    receives.clear();
  }

  /** No process maps the memory of another. */
  @Override
  public ByteBuffer map(long remoteAddress, int length, int rkey) {
    return null;
  }

  private SimCompletionQueue sendQueue() {
    return (SimCompletionQueue) config.sendQueue();
  }

  private boolean isLost(SimWorkRequest request) {
    return requestsAreLost() || (request.opcode() == Opcode.READ && answersAreLost());
  }

  private boolean requestsAreLost() {
    return network.links().isCut(transport.process(), peer.transport.process());
  }

  private boolean answersAreLost() {
    return network.links().isCut(peer.transport.process(), transport.process());
  }

  /** Whether the sender's process stands and this packet waits in its card or on its way. */
  private boolean isStalled() {
    return transport.process().isPaused() && network.scheduler().random().nextBoolean();
  }

  private long latencyNs() {
    return network.latencyNs(transport.process(), peer.transport.process());
  }

  private long now() {
    return network.scheduler().nowNs();
  }
}
