package io.takofs.rpc;

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
}
