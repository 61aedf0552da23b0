package io.takofs.rpc;

import com.google.protobuf.InvalidProtocolBufferException;
import io.takofs.base.Undo;
import io.takofs.layout.Layout;
import io.takofs.proto.Reply;
import io.takofs.proto.Request;
import io.takofs.proto.Status;
import io.takofs.transport.Access;
import io.takofs.transport.CompletionQueue;
import io.takofs.transport.MemoryRegion;
import io.takofs.transport.ProtectionDomain;
import io.takofs.transport.QueuePair;
import io.takofs.transport.ScatterGather;
import io.takofs.transport.Transport;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.function.Consumer;

/**
 * The serving side of one connection: its request slots, which the peer writes, and its reply
 * slots. Nothing the peer does reaches beyond them; a violation of the protocol ends the
 * connection.
 *
 * <p>A peer that shares memory may change a request while it is read, so a request is copied to
 * private memory first; its CRC is verified, and it is parsed, there.
 *
 * <p>Thread rule: any thread.
 */
public final class RpcConnection {
  private static final int SIGNAL_INTERVAL = 16;

  private final String transportName;
  private final String remoteName;
  private final ConnectionKind kind;
  private final ConnectionInfo peer;
  private final long epoch;
  private final ProtectionDomain domain;
  private final CompletionQueue completions;
  private final boolean ownsCompletions;
  private final MemoryRegion requests;
  private final MemoryRegion[] replies; // made at first use
  private final ByteBuffer requestBytes;
  private final boolean[] busy;
  private final int[] generations;
  private final byte[] copy;
  private final RpcHeader header;
  private final ScatterGather pieces = new ScatterGather();
  private QueuePair pair;
  private Runnable faultListener;
  private String fault;
  private boolean released;
  private int sends;
  private long calls;

  /** The kind of connection that the caller asked for, and its side of it. */
  record Peer(ConnectionKind kind, ConnectionInfo info) {}

  /**
   * @param completions where the pair completes; closed with the connection if {@code
   *     ownsCompletions}
   */
  RpcConnection(
      Transport transport,
      String remoteName,
      Peer peer,
      long epoch,
      CompletionQueue completions,
      boolean ownsCompletions)
      throws IOException {
    this.transportName = transport.name();
    this.remoteName = remoteName;
    this.kind = peer.kind;
    this.peer = peer.info;
    this.replies = new MemoryRegion[kind.slots];
    this.busy = new boolean[kind.slots];
    this.generations = new int[kind.slots];
    this.copy = new byte[kind.requestSize];
    this.header = new RpcHeader().wrap(ByteBuffer.wrap(copy));
    this.epoch = epoch;
    this.completions = completions;
    this.ownsCompletions = ownsCompletions;
    try (Undo undo = new Undo()) {
      this.domain = undo.add(transport.allocateProtectionDomain());
      this.requests = domain.allocate(kind.slots * kind.requestSize, Access.REMOTE_READ_WRITE);
      undo.keep();
    }
    this.requestBytes = requests.buffer();
  }

  /** The kind of its caller. */
  public ConnectionKind kind() {
    return kind;
  }

  /** {@code shm}, {@code tcp} or {@code sim}. */
  public String transportName() {
    return transportName;
  }

  /** The peer, for messages and logs. */
  public String remoteName() {
    return remoteName;
  }

  /** Requests received. */
  public synchronized long calls() {
    return calls;
  }

  ProtectionDomain domain() {
    return domain;
  }

  ConnectionInfo ours() {
    return ConnectionInfo.ours(
        kind.code, peer.clientId(), epoch, requests.address(), requests.rkey());
  }

  /** The pair stands; {@code onFault} runs when a reply finds that the peer breaks the rules. */
  synchronized void connected(QueuePair connected, Runnable onFault) {
    pair = connected;
    faultListener = onFault;
    for (int i = 0; i < kind.slots; i++) {
      pair.postReceive(i);
    }
  }

  /**
   * Takes the request that a completion announced; returns false when it breaks the rules, and the
   * connection is faulty then.
   */
  synchronized boolean receive(
      long workRequestId, int immediate, int byteCount, Consumer<IncomingCall> arrived) {
    if (fault != null) {
      return true;
    }
    fault = Immediate.fault(immediate, Immediate.REQUEST, kind.slots, kind.requestSize, byteCount);
    if (fault == null) {
      fault = take(workRequestId, immediate, byteCount, arrived);
    }
    return fault == null;
  }

  /** Returns what is wrong, or null. */
  private String take(
      long workRequestId, int immediate, int byteCount, Consumer<IncomingCall> arrived) {
    int slot = Immediate.slot(immediate);
    int generation = Immediate.generation(immediate);
    if (busy[slot]) {
      return "slot " + slot + " still has a call";
    }
    if (generation != (generations[slot] + 1 & Immediate.GENERATION_MASK)) {
      return "generation " + generation + " in slot " + slot + " after " + generations[slot];
    }
    requestBytes.get(slot * kind.requestSize, copy, 0, byteCount);
    String damage = header.fault(byteCount);
    if (damage != null) {
      return damage;
    }
    if (header.epoch() != epoch) {
      return "it is for epoch " + header.epoch() + " and this is " + epoch;
    }
    try {
      Request request =
          Request.parser()
              .parseFrom(copy, Layout.RPC_HEADER_SIZE, byteCount - Layout.RPC_HEADER_SIZE);
      busy[slot] = true;
      generations[slot] = generation;
      calls++;
      pair.postReceive(workRequestId);
      arrived.accept(
          new IncomingCall(this, slot, header.clientId(), header.sequence(), request, byteCount));
      return null;
    } catch (InvalidProtocolBufferException e) {
      return "no request: " + e.getMessage();
    }
  }

  void reply(int slot, long clientId, long sequence, Reply reply) {
    synchronized (this) {
      if (fault != null) {
        return;
      }
      if (pair.sendSlotsFree() > 0) {
        try {
          send(slot, clientId, sequence, reply);
          return;
        } catch (IOException | RuntimeException | OutOfMemoryError e) {
          // A call that nobody answers would hold its slot for as long as the connection lives.
          fault = "its reply cannot be sent: " + e;
        }
      } else {
        fault = "it does not take its replies";
      }
    }
    faultListener.run();
  }

  private void send(int slot, long clientId, long sequence, Reply reply) throws IOException {
    if (replies[slot] == null) {
      // Callers take the slot they used last: most connections need a few of them.
      replies[slot] = domain.allocate(kind.replySize, Access.LOCAL);
    }
    Reply fitting = RpcMessage.size(reply) <= kind.replySize ? reply : tooLarge(reply);
    int size = RpcMessage.encode(replies[slot].buffer(), clientId, sequence, epoch, fitting);
    busy[slot] = false;
    sends++;
    pair.writeWithImmediate(
        slot,
        pieces.clear().add(replies[slot], 0, size),
        peer.address() + (long) slot * kind.replySize,
        peer.rkey(),
        Immediate.pack(Immediate.REPLY, generations[slot], slot, size),
        sends % SIGNAL_INTERVAL == 0 ? QueuePair.SIGNALED : 0);
    pair.ring();
  }

  private Reply tooLarge(Reply reply) {
    return Reply.newBuilder()
        .setStatus(Status.INTERNAL)
        .setMessage(
            "the reply takes "
                + RpcMessage.size(reply)
                + " bytes, a slot has "
                + kind.replySize
                + "; ask for fewer entries a call")
        .build();
  }

  /**
   * Ends the connection because a request of its peer cannot be carried out. Not with this object's
   * lock.
   */
  void end(String why) {
    if (fail(why)) {
      faultListener.run();
    }
  }

  /** Marks the connection as over; returns whether it was not before. */
  synchronized boolean fail(String why) {
    if (fault != null) {
      return false;
    }
    fault = why;
    return true;
  }

  /** Whether it has ended: no reply reaches its peer any more. */
  public synchronized boolean hasEnded() {
    return fault != null;
  }

  /** Why it has ended; null while it stands. */
  synchronized String fault() {
    return fault;
  }

  /** Closes the pair and frees the slots; nothing is touched through this object afterwards. */
  void release() {
    QueuePair closing;
    synchronized (this) {
      if (released) {
        return;
      }
      released = true;
      fail("it was released");
      closing = pair;
    }
    if (closing != null) {
      closing.close();
    }
    if (ownsCompletions) {
      completions.close();
    }
    requests.close();
    for (MemoryRegion reply : replies) {
      if (reply != null) {
        reply.close();
      }
    }
    domain.close();
  }
}
