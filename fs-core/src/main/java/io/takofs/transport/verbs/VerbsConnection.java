package io.takofs.transport.verbs;

import com.ibm.disni.verbs.IbvQP;
import com.ibm.disni.verbs.IbvQPInitAttr;
import com.ibm.disni.verbs.RdmaCmEvent.EventType;
import com.ibm.disni.verbs.RdmaCmId;
import com.ibm.disni.verbs.RdmaConnParam;
import com.ibm.disni.verbs.impl.NatObject;
import io.takofs.base.Invariant;
import io.takofs.base.TakoException;
import io.takofs.base.Undo;
import io.takofs.jni.NativeControl;
import io.takofs.jni.NativeError;
import io.takofs.proto.Status;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.InetSocketAddress;
import java.util.concurrent.TimeUnit;

/**
 * A connection of the connection manager ({@code rdma_cm_id}) and its queue pair.
 *
 * <p>Thread rule: any thread.
 */
final class VerbsConnection implements AutoCloseable {
  /**
   * Times that an unanswered packet is sent again, half a second apart, before the pair fails: a
   * peer that is gone is noticed within four seconds, and where one packet in twenty is lost hardly
   * one in a thousand million is lost so often. For soft-RoCE 7 would be for ever.
   */
  private static final byte RETRIES = 6;

  /**
   * Tries until a peer without a receive posted fails the pair, two thirds of a second apart; 7
   * would be for ever. Credits see to it that it has one.
   */
  private static final byte RNR_RETRIES = 6;

  /** Reason of a rejection that the peer's program made (IB_CM_REJ_CONSUMER_DEFINED). */
  private static final int REJECTED_BY_PEER = 28;

  /**
   * Reason of a rejection by a kernel that has no listener there (IB_CM_REJ_INVALID_SERVICE_ID).
   */
  private static final int REJECTED_NO_LISTENER = 8;

  private enum State {
    NEW,
    CONNECTING,
    REQUESTED,
    ACCEPTED,
    CONNECTED,
    ENDED,
    CLOSED
  }

  private final ConnectionManager manager;
  private final VerbsResources resources;
  private final RdmaCmId id;
  private final ConnectionEvents events;
  private final InetSocketAddress peer;

  private State state; // and all below: this object's monitor
  private ConnectionManager.Event answer; // to the step that connect or resolve waits for
  private IbvQP queuePair;

  private VerbsConnection(
      ConnectionManager manager,
      VerbsResources resources,
      InetSocketAddress peer,
      ConnectionEvents events)
      throws IOException {
    this.manager = manager;
    this.resources = resources;
    this.events = events;
    this.peer = peer;
    state = State.NEW;
    id = manager.createId(this::onEvent);
    resources.add(VerbsResources.Kind.CONNECTION, this);
  }

  private VerbsConnection(
      ConnectionManager manager, VerbsResources resources, RdmaCmId id, ConnectionEvents events) {
    this.manager = manager;
    this.resources = resources;
    this.events = events;
    this.id = id;
    peer = null;
    state = State.REQUESTED;
    manager.setTarget(id, this::onEvent);
    resources.add(VerbsResources.Kind.CONNECTION, this);
  }

  /** The connection that a request asks for. */
  static VerbsConnection requested(
      ConnectionManager manager, VerbsResources resources, RdmaCmId id, ConnectionEvents events) {
    return new VerbsConnection(manager, resources, id, events);
  }

  /** A connection to {@code peer} that has found its way there. */
  static VerbsConnection resolved(
      ConnectionManager manager,
      VerbsResources resources,
      InetSocketAddress local,
      InetSocketAddress peer,
      ConnectionEvents events,
      long timeoutNs)
      throws IOException {
    try (Undo undo = new Undo()) {
      VerbsConnection connection = undo.add(new VerbsConnection(manager, resources, peer, events));
      connection.resolve(local, timeoutNs);
      undo.keep();
      return connection;
    }
  }

  private synchronized void resolve(InetSocketAddress local, long timeoutNs) throws IOException {
    long deadlineNs = System.nanoTime() + timeoutNs;
    try {
      id.bindAddr(local);
      id.resolveAddr(null, peer, millisLeft(deadlineNs));
    } catch (IOException e) {
      throw failed("finding its address", e.getMessage(), e);
    }
    await(EventType.RDMA_CM_EVENT_ADDR_RESOLVED, deadlineNs, "finding its address");
    try {
      id.resolveRoute(millisLeft(deadlineNs));
    } catch (IOException e) {
      throw failed("finding a route", e.getMessage(), e);
    }
    await(EventType.RDMA_CM_EVENT_ROUTE_RESOLVED, deadlineNs, "finding a route");
  }

  private static int millisLeft(long deadlineNs) {
    long left = TimeUnit.NANOSECONDS.toMillis(deadlineNs - System.nanoTime());
    return (int) Math.max(1, Math.min(left, Integer.MAX_VALUE));
  }

  /**
   * Creates the reliable-connected queue pair; a send is signalled only when it asks to be.
   *
   * @return the {@code ibv_qp}
   */
  synchronized long createQueuePair(
      VerbsDomain domain, VerbsCompletions sends, VerbsCompletions receives, QueuePairCaps caps)
      throws IOException {
    Invariant.check(queuePair == null, "a connection has one queue pair");
    checkNotClosed();
    IbvQPInitAttr attributes = new IbvQPInitAttr();
    attributes.setQp_type(IbvQP.IBV_QPT_RC);
    attributes.setSend_cq(sends.queue());
    attributes.setRecv_cq(receives.queue());
    attributes.cap().setMax_send_wr(caps.maxSends());
    attributes.cap().setMax_recv_wr(caps.maxReceives());
    attributes.cap().setMax_inline_data(caps.maxInline());
    try {
      // DiSNI passes all but this.
      NativeError.check(
          NativeControl.stagePair(ConnectionManager.pointer(id), caps.maxScatterGather()),
          "the elements of a work request");
      queuePair = id.createQP(domain.domain(), attributes);
    } catch (IOException e) {
      throw new TakoException(
          Status.UNAVAILABLE,
          "the RDMA device made no queue pair with " + caps + ": " + e.getMessage(),
          e);
    }
    return queuePair();
  }

  /** The {@code ibv_qp}; 0 before it was created and after {@link #close}. */
  synchronized long queuePair() {
    return queuePair == null || state == State.CLOSED ? 0 : ((NatObject) queuePair).getObjId();
  }

  synchronized InetSocketAddress remoteAddress() throws IOException {
    checkNotClosed();
    return (InetSocketAddress) id.getDestination();
  }

  synchronized InetSocketAddress localAddress() throws IOException {
    checkNotClosed();
    return (InetSocketAddress) id.getSource();
  }

  /**
   * Connects the queue pair; blocks until the peer answered. Not on the event thread.
   *
   * @param privateData at most {@link VerbsControl#REQUEST_DATA_MAX} bytes
   * @return the peer's
   * @throws VerbsRejectedException if the peer refused, with what it said
   * @throws IOException naming the peer and what failed: nobody listens there, no answer in time
   */
  synchronized byte[] connect(byte[] privateData, long timeoutNs) throws IOException {
    Invariant.check(
        privateData.length <= VerbsControl.REQUEST_DATA_MAX, "private data fits a request");
    Invariant.check(state == State.NEW && queuePair != null, "a resolved connection with a pair");
    long deadlineNs = System.nanoTime() + timeoutNs;
    try (Undo undo = new Undo()) {
      undo.add(this::disconnect);
      ask(privateData);
      byte[] answered = await(EventType.RDMA_CM_EVENT_ESTABLISHED, deadlineNs, "connecting").data();
      undo.keep();
      return answered;
    }
  }

  private void ask(byte[] privateData) throws TakoException {
    try (NativeBlock block = NativeBlock.of(privateData)) {
      RdmaConnParam parameters = new RdmaConnParam();
      parameters.setPrivate_data(block.address());
      parameters.setPrivate_data_len((byte) privateData.length);
      parameters.setRetry_count(RETRIES);
      parameters.setRnr_retry_count(RNR_RETRIES);
      state = State.CONNECTING;
      id.connect(parameters);
    } catch (IOException e) {
      throw failed("asking for a connection", e.getMessage(), e);
    }
  }

  /** Releases the monitor and waits for the event that answers a step. */
  private ConnectionManager.Event await(EventType wanted, long deadlineNs, String step)
      throws IOException {
    while (answer == null) {
      checkNotClosed();
      long left = deadlineNs - System.nanoTime();
      if (left <= 0) {
        throw new TakoException(
            Status.DEADLINE_EXCEEDED, VerbsControl.name(peer) + ": " + step + " took too long");
      }
      try {
        TimeUnit.NANOSECONDS.timedWait(this, left);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new InterruptedIOException(VerbsControl.name(peer) + ": interrupted while " + step);
      }
    }
    ConnectionManager.Event answered = answer;
    answer = null;
    if (answered.type() == wanted) {
      return answered;
    }
    if (answered.type() == EventType.RDMA_CM_EVENT_REJECTED
        && answered.status() == REJECTED_BY_PEER) {
      throw new VerbsRejectedException(
          VerbsControl.name(peer) + " refused the connection", answered.data());
    }
    throw failed(step, reason(answered), null);
  }

  /**
   * Answers a request. Sends may be posted when this returns.
   *
   * @param privateData at most {@link VerbsControl#ACCEPT_DATA_MAX} bytes
   */
  synchronized void accept(byte[] privateData) throws IOException {
    Invariant.check(
        privateData.length <= VerbsControl.ACCEPT_DATA_MAX, "private data fits an accept");
    checkNotClosed();
    if (state == State.ENDED) {
      throw new TakoException(Status.DISCONNECTED, "the peer gave its connection request up");
    }
    Invariant.check(state == State.REQUESTED && queuePair != null, "a request with a queue pair");
    try (NativeBlock block = NativeBlock.of(privateData)) {
      NativeError.check(
          NativeControl.stageAccept(
              ConnectionManager.pointer(id), block.address(), privateData.length),
          "the private data of an accept");
      RdmaConnParam parameters = new RdmaConnParam();
      parameters.setRetry_count(RETRIES);
      parameters.setRnr_retry_count(RNR_RETRIES);
      id.accept(parameters);
      state = State.ACCEPTED;
    } catch (IOException e) {
      end();
      throw new TakoException(
          Status.DISCONNECTED, "accepting a connection failed: " + e.getMessage(), e);
    }
  }

  /**
   * Refuses a request; the connection still has to be closed.
   *
   * @param privateData at most {@link VerbsControl#REJECT_DATA_MAX} bytes
   */
  synchronized void reject(byte[] privateData) throws IOException {
    Invariant.check(
        privateData.length <= VerbsControl.REJECT_DATA_MAX, "private data fits a reject");
    checkNotClosed();
    if (state == State.ENDED) {
      return; // the peer gave up before
    }
    Invariant.check(state == State.REQUESTED, "only a request can be rejected");
    state = State.ENDED;
    try (NativeBlock block = NativeBlock.of(privateData)) {
      NativeError.check(
          NativeControl.reject(ConnectionManager.pointer(id), block.address(), privateData.length),
          "rejecting a connection");
    }
  }

  private void onEvent(ConnectionManager.Event event) {
    boolean established = event.type() == EventType.RDMA_CM_EVENT_ESTABLISHED;
    synchronized (this) {
      if (state == State.CLOSED || state == State.ENDED || isNews(event.type())) {
        return;
      }
      if (state == State.NEW || state == State.CONNECTING) {
        state = established ? State.CONNECTED : state;
        answer = event;
        notifyAll();
        return;
      }
      if (state == State.REQUESTED) { // given up before it was accepted
        state = State.ENDED;
        return;
      }
      if (established) {
        state = State.CONNECTED;
      } else {
        end();
      }
    }
    if (established) {
      events.onEstablished(this);
    } else {
      events.onDisconnected(this, reason(event));
    }
  }

  /** An event that changes nothing here. */
  private static boolean isNews(EventType type) {
    return type == EventType.RDMA_CM_EVENT_TIMEWAIT_EXIT
        || type == EventType.RDMA_CM_EVENT_ADDR_CHANGE;
  }

  private static String reason(ConnectionManager.Event event) {
    return switch (event.type()) {
      case RDMA_CM_EVENT_ADDR_ERROR -> "no RDMA device reaches that address, " + errno(event);
      case RDMA_CM_EVENT_ROUTE_ERROR -> "no route, " + errno(event);
      case RDMA_CM_EVENT_UNREACHABLE -> "the peer does not answer, " + errno(event);
      case RDMA_CM_EVENT_CONNECT_ERROR -> "the connection manager failed, " + errno(event);
      case RDMA_CM_EVENT_REJECTED ->
          event.status() == REJECTED_NO_LISTENER
              ? "nobody listens there"
              : "the peer's connection manager refused, reason " + event.status();
      case RDMA_CM_EVENT_DISCONNECTED -> "the peer closed the connection or died";
      case RDMA_CM_EVENT_DEVICE_REMOVAL -> "the RDMA device was removed";
      default -> "unexpected event " + event.type();
    };
  }

  private static String errno(ConnectionManager.Event event) {
    return "errno " + Math.abs(event.status());
  }

  private TakoException failed(String step, String why, Throwable cause) {
    return new TakoException(
        Status.UNAVAILABLE, VerbsControl.name(peer) + ": " + step + " failed: " + why, cause);
  }

  private void checkNotClosed() throws IOException {
    if (state == State.CLOSED) {
      throw new TakoException(Status.DISCONNECTED, "the connection was closed");
    }
  }

  /** Moves the queue pair to the error state and tells the peer, if there is one to tell. */
  private void end() {
    state = State.ENDED;
    if (queuePair != null) {
      try {
        id.disconnect(); // its result says only whether there was something to disconnect
      } catch (IOException e) {
        throw new IllegalStateException("an open connection could not be disconnected", e);
      }
    }
  }

  /**
   * Moves the queue pair to the error state, so that every post is flushed, and tells the peer.
   * Harmless when there is nothing to disconnect. {@link ConnectionEvents#onDisconnected} is not
   * called after it.
   */
  synchronized void disconnect() {
    if (state != State.CLOSED && state != State.ENDED) {
      end();
    }
  }

  /**
   * Disconnects, destroys the queue pair and then the connection. Its posted work completes no
   * more: drain its flushes after {@link #disconnect} and before this.
   */
  @Override
  public synchronized void close() {
    if (resources.remove(VerbsResources.Kind.CONNECTION, this)) {
      disconnect();
      state = State.CLOSED;
      notifyAll(); // a connect that waits
      manager.destroy(id);
    }
  }
}
