package io.takofs.server.snapshot;

import static org.assertj.core.api.Assertions.assertThat;

import io.takofs.transport.AbstractQueuePair;
import io.takofs.transport.CompletionHandler;
import io.takofs.transport.CompletionStatus;
import io.takofs.transport.MemoryRegion;
import io.takofs.transport.Opcode;
import io.takofs.transport.ScatterGather;
import io.takofs.transport.WorkRequest;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Queue;

/** A queue pair whose reads complete when a test wants it: then bytes are copied, not before. */
final class CopyingPair extends AbstractQueuePair {
  private static final int SENDS_MAX = 16;

  private record Read(long id, MemoryRegion to, int offset, int length, int from) {}

  private final MemoryRegion remote;
  private final Queue<Read> staged = new ArrayDeque<>();
  private final Queue<Read> posted = new ArrayDeque<>();
  private State state = State.CONNECTED;
  private long mostBytes;

  CopyingPair(MemoryRegion remote) {
    super(1);
    this.remote = remote;
    setRemote("the source", new byte[0]);
  }

  /** Most bytes that were under way. */
  long mostBytes() {
    return mostBytes;
  }

  boolean isIdle() {
    return posted.isEmpty();
  }

  /** The oldest read is done. */
  void completeOne(CompletionHandler handler) {
    Read read = posted.remove();
    ByteBuffer to = read.to.buffer();
    to.put(read.offset, remote.buffer(), read.from, read.length);
    handler.onCompletion(this, read.id, Opcode.READ, CompletionStatus.SUCCESS, read.length, 0);
  }

  /** The oldest read fails, and so does the pair. */
  void failOne(CompletionHandler handler, CompletionStatus status) {
    setError("as the test wants it");
    state = State.ERROR;
    handler.onCompletion(this, posted.remove().id, Opcode.READ, status, 0, 0);
  }

  /** The pair breaks; nobody hears of what was under way. */
  void breakIt() {
    setError("as the test wants it");
    state = State.ERROR;
    posted.clear();
  }

  @Override
  protected void stage(WorkRequest request) {
    assertThat(state).isNotEqualTo(State.CLOSED);
    assertThat(request.opcode()).isEqualTo(Opcode.READ);
    assertThat(request.rkey()).isEqualTo(remote.rkey());
    assertThat(request.isSignaled()).isTrue();
    assertThat(sendSlotsFree()).isPositive();
    ScatterGather local = request.local();
    assertThat(local.count()).isEqualTo(1);
    staged.add(
        new Read(
            request.id(),
            local.region(0),
            local.offset(0),
            local.length(0),
            Math.toIntExact(request.remoteAddress() - remote.address())));
  }

  @Override
  public void ring() {
    posted.addAll(staged);
    staged.clear();
    mostBytes = Math.max(mostBytes, posted.stream().mapToLong(Read::length).sum());
  }

  @Override
  public State state() {
    return state;
  }

  @Override
  public int sendSlotsFree() {
    return SENDS_MAX - staged.size() - posted.size();
  }

  @Override
  public void close() {
    state = State.CLOSED;
    posted.clear();
    staged.clear();
  }

  @Override
  public void postReceive(long workRequestId) {
    throw new UnsupportedOperationException();
  }

  @Override
  public ByteBuffer map(long remoteAddress, int length, int rkey) {
    return null;
  }

  @Override
  public boolean revoke() {
    throw new UnsupportedOperationException();
  }
}
