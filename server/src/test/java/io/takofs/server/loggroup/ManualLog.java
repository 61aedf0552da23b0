package io.takofs.server.loggroup;

import io.takofs.base.TakoException;
import io.takofs.proto.Status;
import io.takofs.server.log.Log;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/** A log in memory, in which an entry is committed when the test says so. */
final class ManualLog implements Log {
  private final List<ByteBuffer> entries = new ArrayList<>();
  private final List<Long> terms = new ArrayList<>();
  private long term;
  private long acknowledged;
  private long commitIndex;
  private long trimmed;

  /** Entries that there is room for above those that were trimmed. */
  int room = Integer.MAX_VALUE;

  /** Whether it cannot go on without a checkpoint. */
  boolean needsCheckpoint;

  /** The others have acknowledged the entries up to {@code index}. */
  void acknowledge(long index) {
    acknowledged = index;
  }

  /** Another leader has put an entry where one was proposed. */
  void replaceLast(long newTerm) {
    terms.set(terms.size() - 1, newTerm);
  }

  @Override
  public void lead(long newTerm) {
    term = newTerm;
  }

  @Override
  public long term() {
    return term;
  }

  @Override
  public long propose(ByteBuffer payload) throws TakoException {
    if (entries.size() - trimmed >= room) {
      throw new TakoException(Status.NO_SPACE, "the log is full");
    }
    entries.add(payload.slice());
    terms.add(term);
    return entries.size();
  }

  @Override
  public int poll(CommitHandler handler) {
    int count = 0;
    while (commitIndex < acknowledged && commitIndex < entries.size()) {
      int at = (int) commitIndex++;
      handler.onCommit(commitIndex, terms.get(at), entries.get(at).duplicate());
      count++;
    }
    return count;
  }

  @Override
  public long lastIndex() {
    return entries.size();
  }

  @Override
  public long commitIndex() {
    return commitIndex;
  }

  @Override
  public long appendedBytes() {
    return 0;
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
  public boolean needsCheckpoint() {
    return needsCheckpoint;
  }

  @Override
  public boolean wantsTrim() {
    return needsCheckpoint;
  }

  @Override
  public void trim(long index) {
    trimmed = index;
  }

  @Override
  public void close() {}
}
