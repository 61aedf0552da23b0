package io.takofs.sim.log;

import io.takofs.transport.QueuePair;
import io.takofs.transport.ScatterGather;
import java.nio.ByteBuffer;

/** A connection that does what another one does, but for what a subclass changes. */
abstract class ForwardedPair implements QueuePair {
  /** The connection that does it now. */
  abstract QueuePair pair();

  @Override
  public int number() {
    return pair().number();
  }

  @Override
  public State state() {
    return pair().state();
  }

  @Override
  public String errorText() {
    return pair().errorText();
  }

  @Override
  public String remoteName() {
    return pair().remoteName();
  }

  @Override
  public byte[] remotePrivateData() {
    return pair().remotePrivateData();
  }

  @Override
  public void write(long id, ScatterGather local, long remoteAddress, int rkey, int flags) {
    pair().write(id, local, remoteAddress, rkey, flags);
  }

  @Override
  public void writeWithImmediate(
      long id, ScatterGather local, long remoteAddress, int rkey, int immediate, int flags) {
    pair().writeWithImmediate(id, local, remoteAddress, rkey, immediate, flags);
  }

  @Override
  public void read(long id, ScatterGather local, long remoteAddress, int rkey, int flags) {
    pair().read(id, local, remoteAddress, rkey, flags);
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
    pair().compareAndSwap(id, local, remoteAddress, rkey, expected, desired, flags);
  }

  @Override
  public void fetchAndAdd(
      long id, ScatterGather local, long remoteAddress, int rkey, long addend, int flags) {
    pair().fetchAndAdd(id, local, remoteAddress, rkey, addend, flags);
  }

  @Override
  public void ring() {
    pair().ring();
  }

  @Override
  public int sendSlotsFree() {
    return pair().sendSlotsFree();
  }

  @Override
  public void postReceive(long id) {
    pair().postReceive(id);
  }

  @Override
  public ByteBuffer map(long remoteAddress, int length, int rkey) {
    return pair().map(remoteAddress, length, rkey);
  }

  @Override
  public boolean revoke() {
    return pair().revoke();
  }

  @Override
  public void close() {
    pair().close();
  }
}
