package io.takofs.sim.log;

import io.takofs.transport.QueuePair;
import io.takofs.transport.ScatterGather;
import java.nio.ByteBuffer;

/** A member's end of a leader's connection, which claims at once that nothing lands any more. */
record LatePair(QueuePair pair, Runnable revocation) implements QueuePair {
  @Override
  public boolean revoke() {
    revocation.run();
    return true;
  }

  @Override
  public int number() {
    return pair.number();
  }

  @Override
  public State state() {
    return pair.state();
  }

  @Override
  public String errorText() {
    return pair.errorText();
  }

  @Override
  public String remoteName() {
    return pair.remoteName();
  }

  @Override
  public byte[] remotePrivateData() {
    return pair.remotePrivateData();
  }

  @Override
  public void write(long id, ScatterGather local, long remoteAddress, int rkey, int flags) {
    throw new UnsupportedOperationException("a member writes nothing");
  }

  @Override
  public void writeWithImmediate(
      long id, ScatterGather local, long remoteAddress, int rkey, int immediate, int flags) {
    throw new UnsupportedOperationException("a member writes nothing");
  }

  @Override
  public void read(long id, ScatterGather local, long remoteAddress, int rkey, int flags) {
    throw new UnsupportedOperationException("a member reads nothing");
  }

  @Override
  public void compareAndSwap(
      long id,
      ScatterGather local,
      long remoteAddress,
      int rkey,
      long expected,
      long desired,
      int flags) {
    throw new UnsupportedOperationException("a member swaps nothing");
  }

  @Override
  public void fetchAndAdd(
      long id, ScatterGather local, long remoteAddress, int rkey, long addend, int flags) {
    throw new UnsupportedOperationException("a member adds nothing");
  }

  @Override
  public void ring() {
    pair.ring();
  }

  @Override
  public int sendSlotsFree() {
    return pair.sendSlotsFree();
  }

  @Override
  public void postReceive(long id) {
    pair.postReceive(id);
  }

  @Override
  public ByteBuffer map(long remoteAddress, int length, int rkey) {
    return null;
  }

  @Override
  public void close() {
    pair.close();
  }
}
