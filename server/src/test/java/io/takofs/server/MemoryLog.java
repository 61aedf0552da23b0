package io.takofs.server;

import com.google.protobuf.InvalidProtocolBufferException;
import io.takofs.base.TakoException;
import io.takofs.proto.LogEntry;
import io.takofs.proto.Status;
import io.takofs.server.log.Log;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.function.Predicate;

/** A log that commits at once and keeps nothing that was applied. */
final class MemoryLog implements Log {
  private final Queue<ByteBuffer> committed = new ArrayDeque<>();
  private long lastIndex;
  private long deliveredIndex;
  private long bytes;
  private long term;
  private Predicate<LogEntry> refused; // null for none, which costs no parsing
  private int refusals;

  @Override
  public void lead(long newTerm) {
    term = newTerm;
  }

  @Override
  public long term() {
    return term;
  }

  /** Takes none of the entries for which {@code test} holds; all with null. */
  void refuse(Predicate<LogEntry> test) {
    refused = test;
  }

  @Override
  public long propose(ByteBuffer payload) throws TakoException {
    if (refused != null && refused.test(entry(payload.duplicate()))) {
      refusals++;
      throw new TakoException(Status.UNAVAILABLE, "the log takes no such entry");
    }
    committed.add(payload.slice());
    bytes += payload.remaining();
    return ++lastIndex;
  }

  /** Entries that were not taken so far. */
  int refusals() {
    return refusals;
  }

  private static LogEntry entry(ByteBuffer payload) {
    try {
      return LogEntry.parseFrom(payload);
    } catch (InvalidProtocolBufferException e) {
      throw new AssertionError(e);
    }
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
