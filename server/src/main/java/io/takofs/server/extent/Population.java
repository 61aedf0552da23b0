package io.takofs.server.extent;

import io.takofs.proto.ExtentStatus;
import io.takofs.server.store.Transaction;

/**
 * The number of extents in one state, and their bytes.
 *
 * <p>Thread rule: the state machine's thread.
 */
final class Population {
  private final String state;
  private long extents;
  private long bytes;

  Population(String state) {
    this.state = state;
  }

  void add(SlabRange extent) {
    change(1, extent.capacity());
  }

  void add(Transaction tx, SlabRange extent) {
    add(extent);
    tx.undoWith(() -> change(-1, -extent.capacity()));
  }

  void remove(Transaction tx, SlabRange extent) {
    change(-1, -extent.capacity());
    tx.undoWith(() -> change(1, extent.capacity()));
  }

  /** Takes the counts of a summary, at start. */
  void restore(long count, long length) {
    change(count, length);
  }

  long bytes() {
    return bytes;
  }

  long extents() {
    return extents;
  }

  ExtentStatus status() {
    return ExtentStatus.newBuilder().setState(state).setExtents(extents).setBytes(bytes).build();
  }

  private void change(long count, long length) {
    extents += count;
    bytes += length;
  }
}
