package io.takofs.bench.log;

import io.takofs.base.Invariant;
import io.takofs.transport.CompletionHandler;
import io.takofs.transport.CompletionStatus;
import io.takofs.transport.MemoryRegion;
import io.takofs.transport.Opcode;
import io.takofs.transport.QueuePair;
import io.takofs.transport.ScatterGather;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;

/**
 * A leader's writes to a follower, sent in calls: a write completes when the follower has answered
 * that its bytes are in its memory, and verified as far as they are frames of its log.
 *
 * <p>Thread rule: one thread.
 */
final class CallWriter implements QueuePair {
  private final CallSender calls;
  private final long term;
  private final long grant;
  private final ArrayDeque<Completed> completed = new ArrayDeque<>();
  private State state = State.CONNECTED;

  private record Completed(long id, CompletionStatus status) {}

  /**
   * @param term in which the leader writes
   * @param grant under which it does
   */
  CallWriter(CallSender calls, long term, long grant) {
    this.calls = calls;
    this.term = term;
    this.grant = grant;
    calls.onAnswered(this::onAnswered);
  }

  /** The last call of a write has its id as tag, the others 0: they are answered in order. */
  private void onAnswered(long tag, boolean refused) {
    if (refused) {
      state = State.ERROR;
    }
    if (tag != 0 || refused) {
      completed.add(
          new Completed(
              tag, refused ? CompletionStatus.REMOTE_ACCESS_ERROR : CompletionStatus.SUCCESS));
    }
  }

  /** Delivers up to {@code max} writes that have completed; returns how many. */
  int deliver(CompletionHandler handler, int max) {
    int count = 0;
    while (count < max && !completed.isEmpty()) {
      Completed each = completed.remove();
      handler.onCompletion(this, each.id, Opcode.WRITE, each.status, 0, 0);
      count++;
    }
    return count;
  }

  @Override
  public void write(
      long workRequestId, ScatterGather local, long remoteAddress, int rkey, int flags) {
    Invariant.check(local.count() == 1 && workRequestId != 0, "a leader's write has one piece");
    if (state != State.CONNECTED) {
      completed.add(new Completed(workRequestId, CompletionStatus.FLUSHED));
      return;
    }
    MemoryRegion region = local.region(0);
    int offset = local.offset(0);
    int left = local.length(0);
    long address = remoteAddress;
    while (left > 0) {
      int length = Math.min(left, FrameCall.PAYLOAD_MAX);
      left -= length;
      long tag = left == 0 ? workRequestId : 0;
      calls.send(tag, term, grant, region, offset, length, address, rkey);
      offset += length;
      address += length;
    }
  }

  @Override
  public void ring() {
    calls.ring();
  }

  @Override
  public State state() {
    return state;
  }

  @Override
  public void close() {
    state = State.CLOSED;
  }

  @Override
  public int number() {
    return calls.pair().number();
  }

  @Override
  public String errorText() {
    return state == State.ERROR ? "the follower refused a call" : calls.pair().errorText();
  }

  @Override
  public String remoteName() {
    return calls.pair().remoteName();
  }

  @Override
  public byte[] remotePrivateData() {
    return calls.pair().remotePrivateData();
  }

  @Override
  public int sendSlotsFree() {
    return calls.pair().sendSlotsFree();
  }

  @Override
  public ByteBuffer map(long remoteAddress, int length, int rkey) {
    return null;
  }

  @Override
  public boolean revoke() {
    close();
    return true;
  }

  @Override
  public void writeWithImmediate(
      long workRequestId, ScatterGather local, long address, int rkey, int immediate, int flags) {
    throw unused();
  }

  @Override
  public void read(long workRequestId, ScatterGather local, long address, int rkey, int flags) {
    throw unused();
  }

  @Override
  public void compareAndSwap(
      long workRequestId,
      ScatterGather local,
      long remoteAddress,
      int rkey,
      long expected,
      long desired,
      int flags) {
    throw unused();
  }

  @Override
  public void fetchAndAdd(
      long workRequestId,
      ScatterGather local,
      long remoteAddress,
      int rkey,
      long addend,
      int flags) {
    throw unused();
  }

  @Override
  public void postReceive(long workRequestId) {
    throw unused();
  }

  private static UnsupportedOperationException unused() {
    return new UnsupportedOperationException("a leader of a log only writes");
  }
}
