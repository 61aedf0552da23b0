package io.takofs.transport;

import java.util.concurrent.atomic.AtomicReference;

/** State that the queue pairs of all transports share: number, peer and first error. */
public abstract class AbstractQueuePair implements QueuePair {
  private final int number;
  private final WorkRequest request = new WorkRequest();
  private final AtomicReference<String> error = new AtomicReference<>();
  private volatile String remoteName = "";
  private volatile byte[] remotePrivateData = new byte[0];

  /**
   * @param number unique within the transport in this process
   */
  protected AbstractQueuePair(int number) {
    this.number = number;
  }

  /** Names the peer. Once, before the transport hands the pair to its user. */
  protected final void setRemote(String name, byte[] privateData) {
    remoteName = name;
    remotePrivateData = privateData;
  }

  /**
   * Keeps {@code text} as {@link #errorText}, unless an earlier error is kept already. A subclass
   * calls this before it changes the state, so that whoever sees ERROR also sees why. Any thread.
   *
   * @return whether it is the first error
   */
  protected final boolean setError(String text) {
    return error.compareAndSet(null, text);
  }

  @Override
  public final int number() {
    return number;
  }

  @Override
  public final String errorText() {
    String text = error.get();
    return text == null ? "" : text;
  }

  @Override
  public final String remoteName() {
    return remoteName;
  }

  @Override
  public final byte[] remotePrivateData() {
    return remotePrivateData.clone();
  }

  /** Keeps {@code request}, which is used again after this call, for {@link #ring}. */
  protected abstract void stage(WorkRequest request);

  @Override
  public final void write(
      long workRequestId, ScatterGather local, long remoteAddress, int rkey, int flags) {
    stage(request.set(Opcode.WRITE, workRequestId, local, remoteAddress, rkey, flags));
  }

  @Override
  public final void writeWithImmediate(
      long workRequestId,
      ScatterGather local,
      long remoteAddress,
      int rkey,
      int immediate,
      int flags) {
    Opcode opcode = Opcode.WRITE_WITH_IMMEDIATE;
    request.set(opcode, workRequestId, local, remoteAddress, rkey, flags);
    stage(request.withImmediate(immediate));
  }

  @Override
  public final void read(
      long workRequestId, ScatterGather local, long remoteAddress, int rkey, int flags) {
    stage(request.set(Opcode.READ, workRequestId, local, remoteAddress, rkey, flags));
  }

  @Override
  public final void compareAndSwap(
      long workRequestId,
      ScatterGather local,
      long remoteAddress,
      int rkey,
      long expected,
      long desired,
      int flags) {
    request.set(Opcode.COMPARE_AND_SWAP, workRequestId, local, remoteAddress, rkey, flags);
    stage(request.withOperands(expected, desired));
  }

  @Override
  public final void fetchAndAdd(
      long workRequestId,
      ScatterGather local,
      long remoteAddress,
      int rkey,
      long addend,
      int flags) {
    request.set(Opcode.FETCH_AND_ADD, workRequestId, local, remoteAddress, rkey, flags);
    stage(request.withOperands(addend, 0));
  }
}
