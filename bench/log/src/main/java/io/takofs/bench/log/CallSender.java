package io.takofs.bench.log;

import com.google.protobuf.InvalidProtocolBufferException;
import io.takofs.base.Invariant;
import io.takofs.proto.Reply;
import io.takofs.proto.Request;
import io.takofs.proto.Status;
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
import java.util.ArrayDeque;
import java.util.function.Consumer;

/**
 * The caller's end of a connection for self-identified calls: a request is one writeWithImmediate
 * into a slot of the peer, the immediate of the reply names the slot. Bytes of memory are sent from
 * where they are.
 *
 * <p>Thread rule: one thread.
 */
final class CallSender {
  private static final int SIGNAL_INTERVAL = 16;
  private static final int SENDS_MAX = 4 * FrameCall.SLOTS;

  private final CompletionQueue queue;
  private final ProtectionDomain domain;
  private final MemoryRegion requests; // heads, and the payload of the one request
  private final MemoryRegion replies; // of the one request
  private final ByteBuffer requestBytes;
  private final FrameCall head;
  private final ScatterGather pieces = new ScatterGather();
  private final int[] free = new int[FrameCall.SLOTS];
  private final long[] tags = new long[FrameCall.SLOTS];
  private final ArrayDeque<Waiting> waiting = new ArrayDeque<>();
  private final CompletionHandler handler = this::onCompletion;
  private int freeCount;
  private QueuePair pair;
  private long peerAddress;
  private int peerRkey;
  private long sequence;
  private int requestSlot = -1;
  private Answered answered = (tag, refused) -> {};

  private record Waiting(Request request, Consumer<Reply> answer) {}

  /** Learns of replies to {@link #send}. */
  interface Answered {
    /**
     * @param tag of the call
     */
    void onAnswered(long tag, boolean refused);
  }

  CallSender(ProtectionDomain domain, CompletionQueue queue) throws IOException {
    this.domain = domain;
    this.queue = queue;
    this.requests = domain.allocate((FrameCall.SLOTS + 1) * FrameCall.HEAD + 4096, Access.LOCAL);
    this.replies = domain.allocate(FrameCall.REPLY_MAX, Access.REMOTE_READ_WRITE);
    this.requestBytes = requests.buffer();
    this.head = new FrameCall(requestBytes);
    for (int slot = FrameCall.SLOTS - 1; slot >= 0; slot--) {
      free[freeCount++] = slot;
    }
  }

  /** The memory into which the peer writes the payloads of replies. */
  MemoryRegion replies() {
    return replies;
  }

  QueuePairConfig config() {
    return new QueuePairConfig(domain, queue, queue, SENDS_MAX, FrameCall.SLOTS);
  }

  QueuePair pair() {
    return pair;
  }

  /** The connection stands; {@code address} and {@code rkey} are those of the peer's slots. */
  void connected(QueuePair connected, long address, int rkey) {
    peerAddress = address;
    peerRkey = rkey;
    for (int i = 0; i < FrameCall.SLOTS; i++) {
      connected.postReceive(i);
    }
    pair = connected;
  }

  /** The listener that learns of replies from now on. */
  void onAnswered(Answered listener) {
    answered = listener;
  }

  /** Stages a call that carries {@code length} bytes of {@code region}. */
  void send(
      long tag,
      long term,
      long grant,
      MemoryRegion region,
      int offset,
      int length,
      long address,
      int rkey) {
    int slot = takeSlot(tag);
    int at = slot * FrameCall.HEAD;
    head.seal(at, length, term, ++sequence, grant, FrameCall.BYTES, address, rkey);
    pieces.clear().add(requests, at, FrameCall.HEAD).add(region, offset, length);
    post(slot);
  }

  /** Hands over what is staged. */
  void ring() {
    pair.ring();
  }

  /** Asks for something else; one question at a time is under way. */
  void ask(Request request, Consumer<Reply> answer) {
    waiting.add(new Waiting(request, answer));
    askNext();
  }

  private void askNext() {
    if (waiting.isEmpty() || requestSlot >= 0) {
      return;
    }
    byte[] payload = waiting.peek().request.toByteArray();
    requestSlot = takeSlot(0);
    int at = FrameCall.SLOTS * FrameCall.HEAD;
    head.seal(at, payload.length, 0, ++sequence, 0, FrameCall.REQUEST, 0, 0);
    requestBytes.put(at + FrameCall.HEAD, payload);
    pieces.clear().add(requests, at, FrameCall.HEAD + payload.length);
    post(requestSlot);
    pair.ring();
  }

  private int takeSlot(long tag) {
    Invariant.check(freeCount > 0, "more calls under way than there are slots");
    int slot = free[--freeCount];
    tags[slot] = tag;
    return slot;
  }

  private void post(int slot) {
    boolean signalled = sequence % SIGNAL_INTERVAL == 0;
    pair.writeWithImmediate(
        slot,
        pieces,
        peerAddress + (long) slot * FrameCall.SLOT_SIZE,
        peerRkey,
        slot,
        signalled ? QueuePair.SIGNALED : 0);
  }

  /** Takes what has come; returns how much. */
  int poll() {
    return queue.poll(handler, FrameCall.SLOTS);
  }

  private void onCompletion(
      QueuePair from, long id, Opcode opcode, CompletionStatus status, int bytes, int immediate) {
    if (status != CompletionStatus.SUCCESS) {
      throw new IllegalStateException("a call failed with " + status + ": " + from.errorText());
    }
    if (opcode != Opcode.RECEIVE_IMMEDIATE) {
      return;
    }
    from.postReceive(id);
    int slot = FrameCall.slot(immediate);
    free[freeCount++] = slot;
    if (slot == requestSlot) {
      requestSlot = -1;
      Reply reply = parse(FrameCall.size(immediate));
      waiting.remove().answer.accept(reply);
      askNext();
    } else {
      answered.onAnswered(tags[slot], FrameCall.isRefused(immediate));
    }
  }

  private Reply parse(int size) {
    byte[] payload = new byte[size];
    replies.buffer().get(payload);
    try {
      return Reply.parseFrom(payload);
    } catch (InvalidProtocolBufferException e) {
      return Reply.newBuilder().setStatus(Status.MALFORMED).setMessage(e.toString()).build();
    }
  }
}
