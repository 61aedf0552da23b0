package io.takofs.transport.tcp;

import io.takofs.base.Invariant;

/**
 * The posted receives of a queue pair, oldest first. A receive holds its place until its completion
 * is polled.
 *
 * <p>Thread rule: guarded by the pair's lock.
 */
final class TcpReceiveQueue {
  private final long[] ids;
  private int head;
  private int count;
  private int held;

  /**
   * @param capacity receives that may be posted, or completed and not polled
   */
  TcpReceiveQueue(int capacity) {
    ids = new long[capacity];
  }

  boolean isEmpty() {
    return count == 0;
  }

  /** Takes a place for a receive that {@link #add} keeps, or that completes at once. */
  void hold() {
    Invariant.check(held < ids.length, () -> "more than " + ids.length + " receives posted");
    held++;
  }

  /** The completion of a receive was polled. */
  void release() {
    held--;
  }

  void add(long workRequestId) {
    ids[(head + count) % ids.length] = workRequestId;
    count++;
  }

  /** Returns the oldest receive; only while there is one. */
  long remove() {
    long id = ids[head];
    head = (head + 1) % ids.length;
    count--;
    return id;
  }
}
