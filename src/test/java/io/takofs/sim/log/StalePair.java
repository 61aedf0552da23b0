package io.takofs.sim.log;

import io.takofs.transport.QueuePair;
import io.takofs.transport.ScatterGather;

/** A leader's connection to a member, of which {@link StaleQueue} knows what is under way. */
final class StalePair extends ForwardedPair {
  private final QueuePair pair;
  private final int server;
  private long written;
  private long counted;

  StalePair(QueuePair pair, int server) {
    this.pair = pair;
    this.server = server;
  }

  int server() {
    return server;
  }

  @Override
  QueuePair pair() {
    return pair;
  }

  @Override
  public void write(long id, ScatterGather local, long remoteAddress, int rkey, int flags) {
    written = id;
    super.write(id, local, remoteAddress, rkey, flags);
  }

  /** The oldest write that has not counted; 0 when all have, or nothing is written any more. */
  long nextToCount() {
    return counted < written && state() == State.CONNECTED ? counted + 1 : 0;
  }

  /** Whether {@code id} counts now for the first time. */
  boolean count(long id) {
    boolean first = id > counted;
    counted = Math.max(counted, id);
    return first;
  }
}
