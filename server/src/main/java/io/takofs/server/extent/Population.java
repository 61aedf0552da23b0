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

  void add(Location extent) {
    change(1, extent.capacity());
  }

  void add(Transaction tx, Location extent) {
    add(extent);
    tx.undoWith(() -> change(-1, -extent.capacity()));
  }

  void remove(Transaction tx, Location extent) {
    change(-1, -extent.capacity());
    tx.undoWith(() -> change(1, extent.capacity()));
  }

  long extents() {
    return extents;
  }

  ExtentStatus status() {
    return ExtentStatus.newBuilder().setState(state).setExtents(extents).setBytes(bytes).build();
  }

  private void change(int count, long length) {
    extents += count;
    bytes += length;
  }
}
