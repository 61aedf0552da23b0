package io.takofs.bench.log;

import com.google.protobuf.InvalidProtocolBufferException;
import io.takofs.layout.Layout;
import io.takofs.proto.Reply;
import io.takofs.proto.Request;
import io.takofs.proto.Status;
import io.takofs.server.log.LogMemory;
import io.takofs.server.log.LogReplica;
import io.takofs.transport.Access;
import io.takofs.transport.CompletionHandler;
import io.takofs.transport.CompletionQueue;
import io.takofs.transport.CompletionStatus;
import io.takofs.transport.MemoryRegion;
import io.takofs.transport.Opcode;
import io.takofs.transport.ProtectionDomain;
import io.takofs.transport.QueuePair;
import io.takofs.transport.QueuePairConfig;
import io.takofs.transport.ScatterGather;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Function;

/**
 * The called end of a connection. Frames are copied from their slot to the member's log, and
 * verified there by the replica, once and while they are in the processor's cache; then the caller
 * gets its answer.
 *
 * <p>Thread rule: one thread; {@link #connected} by the transport's.
 */
final class CallReceiver {
  private static final int SIGNAL_INTERVAL = 16;
  private static final int SENDS_MAX = 4 * FrameCall.SLOTS;

  private final CompletionQueue queue;
  private final ProtectionDomain domain;
  private final MemoryRegion requests;
  private final MemoryRegion reply;
  private final ByteBuffer requestBytes;
  private final FrameCall head;
  private final ScatterGather pieces = new ScatterGather();
  private final Map<Integer, Target> targets = new HashMap<>();
  private final LogReplica replica;
  private final Function<Request, Reply> member;
  private final CompletionHandler handler = this::onCompletion;
  private QueuePair pair;
  private volatile QueuePair accepted;
  private volatile long peerAddress;
  private volatile int peerRkey;
  private int sends;
  private boolean staged;
  private int calls;

  /** Memory that frames or heartbeats go to. */
  private record Target(ByteBuffer bytes, long address, int length) {}

  /**
   * @param memory of the replica
   * @param member answers what are no frames
   */
  CallReceiver(
      ProtectionDomain domain,
      CompletionQueue queue,
      LogMemory memory,
      LogReplica replica,
      Function<Request, Reply> member)
      throws IOException {
    this.domain = domain;
    this.queue = queue;
    this.replica = replica;
    this.member = member;
    this.requests =
        domain.allocate(FrameCall.SLOTS * FrameCall.SLOT_SIZE, Access.REMOTE_READ_WRITE);
    this.reply = domain.allocate(FrameCall.REPLY_MAX, Access.LOCAL);
    this.requestBytes = requests.buffer();
    this.head = new FrameCall(requestBytes);
    memory.slots().forEach(this::addTarget);
    addTarget(memory.heartbeat());
  }

  private void addTarget(MemoryRegion region) {
    targets.put(region.rkey(), new Target(region.buffer(), region.address(), region.length()));
  }

  /** The slots that the peer writes requests to. */
  MemoryRegion requests() {
    return requests;
  }

  QueuePairConfig config() {
    return new QueuePairConfig(domain, queue, queue, SENDS_MAX, FrameCall.SLOTS);
  }

  /** The connection stands; the address and key are where the peer wants replies. */
  void connected(QueuePair connected, long address, int rkey) {
    for (int i = 0; i < FrameCall.SLOTS; i++) {
      connected.postReceive(i);
    }
    peerAddress = address;
    peerRkey = rkey;
    accepted = connected;
  }

  /** Handles what has come; returns the calls with frames or heartbeats among it. */
  int poll() {
    calls = 0;
    queue.poll(handler, FrameCall.SLOTS);
    if (staged) {
      pair.ring();
      staged = false;
    }
    return calls;
  }

  private void onCompletion(
      QueuePair from, long id, Opcode opcode, CompletionStatus status, int bytes, int slot) {
    if (status != CompletionStatus.SUCCESS) {
      throw new IllegalStateException("a caller is gone: " + from.errorText());
    }
    if (opcode != Opcode.RECEIVE_IMMEDIATE) {
      return;
    }
    pair = accepted;
    int at = slot * FrameCall.SLOT_SIZE;
    boolean whole = bytes >= FrameCall.HEAD && head.isWhole(at, bytes);
    from.postReceive(id);
    if (whole && head.kind(at) == FrameCall.REQUEST) {
      handle(slot, at);
    } else {
      calls++;
      answer(slot, !whole || !place(at));
    }
  }

  /** Puts the bytes where they belong; returns whether they are there and whole. */
  private boolean place(int at) {
    Target target = targets.get(head.rkey(at));
    int length = head.length(at);
    if (target == null || !replica.admits(head.term(at), head.grant(at))) {
      return false;
    }
    long offset = head.address(at) - target.address;
    if (offset < 0 || offset + length > target.length) {
      return false;
    }
    int payload = at + FrameCall.HEAD;
    long expected = lastFrame(payload, length);
    target.bytes.put((int) offset, requestBytes, payload, length);
    replica.scan();
    return replica.damage() == null && replica.lastIndex() >= expected;
  }

  /**
   * Index of the last whole frame of those that follow the member's log; 0 when there is none,
   * because the leader brings the member in, or has cut a frame in two.
   */
  private long lastFrame(int from, int length) {
    int end = from + length;
    long index = replica.lastIndex();
    if (replica.promisedTerm() != replica.acceptedTerm()
        || length < Layout.FRAME_HEADER_SIZE
        || requestBytes.getLong(from + Layout.FRAME_HEADER_INDEX_OFFSET) != index + 1) {
      return 0;
    }
    int at = from;
    while (end - at >= Layout.FRAME_HEADER_SIZE) {
      int bytes = requestBytes.getInt(at + Layout.FRAME_HEADER_LENGTH_OFFSET);
      int size =
          Layout.FRAME_HEADER_SIZE
              + Layout.FRAME_TRAILER_SIZE
              + ((bytes + Layout.FRAME_ALIGN - 1) & -Layout.FRAME_ALIGN);
      if (bytes <= 0 || size > end - at) {
        break;
      }
      index++;
      at += size;
    }
    return index;
  }

  private void answer(int slot, boolean refused) {
    pieces.clear();
    send(slot, FrameCall.reply(slot, refused, 0));
  }

  private void handle(int slot, int at) {
    byte[] payload = new byte[head.length(at)];
    requestBytes.get(at + FrameCall.HEAD, payload);
    Reply made;
    try {
      made = member.apply(Request.parseFrom(payload));
    } catch (InvalidProtocolBufferException e) {
      made = Reply.newBuilder().setStatus(Status.MALFORMED).setMessage(e.toString()).build();
    }
    byte[] bytes = made.toByteArray();
    reply.buffer().put(bytes);
    pieces.clear().add(reply, 0, bytes.length);
    send(slot, FrameCall.reply(slot, false, bytes.length));
  }

  private void send(int slot, int immediate) {
    sends++;
    pair.writeWithImmediate(
        slot,
        pieces,
        peerAddress,
        peerRkey,
        immediate,
        sends % SIGNAL_INTERVAL == 0 ? QueuePair.SIGNALED : 0);
    staged = true;
  }
}
