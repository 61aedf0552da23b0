package io.takofs.rpc;

import com.google.protobuf.InvalidProtocolBufferException;
import io.takofs.layout.Layout;
import io.takofs.proto.Reply;
import java.nio.ByteBuffer;

/**
 * One of the slots of an {@link RpcClient} and the call in it. All fields but {@code state} and
 * {@code waiter} are guarded by the client's lock; those two are read by waiters without it.
 */
final class ClientSlot {
  enum State {
    FREE,
    /** The request is on its way, or its reply. */
    POSTED,
    /** The reply is in the slot, for the waiter to parse. */
    REPLIED,
    /** The connection ended first. */
    FAILED,
    /** Its call gave up; a late reply may still land here. */
    POISONED
  }

  final int index;
  final ByteBuffer request;
  final ByteBuffer reply;

  volatile State state = State.FREE;

  /** The blocked caller, or null when {@code handler} is set. */
  volatile Thread waiter;

  ReplyHandler handler;
  int generation;
  long clientId;
  long sequence;
  long deadlineNanos;
  String operation;
  int replySize;
  Reply parsed;

  ClientSlot(int index, ByteBuffer request, ByteBuffer reply) {
    this.index = index;
    this.request = request;
    this.reply = reply;
  }

  /** A call begins, whose request is in the slot. */
  void post(long client, long number, String name) {
    clientId = client;
    sequence = number;
    operation = name;
    generation = generation + 1 & Immediate.GENERATION_MASK;
    state = State.POSTED;
  }

  /** The call is over. */
  void clear() {
    waiter = null;
    handler = null;
    parsed = null;
    state = State.FREE;
  }

  /**
   * The reply in the slot.
   *
   * @param header to look at it with
   * @throws InvalidProtocolBufferException when it is damaged or another call's
   */
  Reply parse(RpcHeader header) throws InvalidProtocolBufferException {
    header.wrap(reply);
    String fault = header.fault(replySize);
    if (fault == null && (header.clientId() != clientId || header.sequence() != sequence)) {
      fault = "it answers call " + header.sequence() + " instead of " + sequence;
    }
    if (fault != null) {
      throw new InvalidProtocolBufferException(fault);
    }
    byte[] payload = new byte[replySize - Layout.RPC_HEADER_SIZE];
    reply.get(Layout.RPC_HEADER_SIZE, payload);
    return Reply.parseFrom(payload);
  }
}
