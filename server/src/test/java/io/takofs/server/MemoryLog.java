package io.takofs.server;

import io.takofs.server.log.Log;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Queue;

/** A log that commits at once and keeps nothing that was applied. */
final class MemoryLog implements Log {
  private final Queue<ByteBuffer> committed = new ArrayDeque<>();
  private long lastIndex;
  private long deliveredIndex;
  private long bytes;
  private long term;

  @Override
  public void lead(long newTerm) {
    term = newTerm;
  }

  @Override
  public long term() {
    return term;
  }

  @Override
  public long propose(ByteBuffer payload) {
    committed.add(payload.slice());
    bytes += payload.remaining();
    return ++lastIndex;
  }

  @Override
  public int poll(CommitHandler handler) {
    int count = 0;
    for (; !committed.isEmpty(); count++) {
      handler.onCommit(++deliveredIndex, term, committed.remove());
    }
    return count;
  }

  @Override
  public long lastIndex() {
    return lastIndex;
  }

  @Override
  public long commitIndex() {
    return lastIndex;
  }

  @Override
  public long appendedBytes() {
    return bytes;
  }

  @Override
  public int segmentCount() {
    return 1;
  }

  @Override
  public int freeSegmentCount() {
    return 1;
  }

  @Override
  public void trim(long index) {}

  @Override
  public void close() {}
}
