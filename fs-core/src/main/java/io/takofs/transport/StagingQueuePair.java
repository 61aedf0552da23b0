package io.takofs.transport;

/** A queue pair whose operations are staged alike, whatever they are. */
public abstract class StagingQueuePair implements QueuePair {
  /**
   * Keeps an operation for {@link #ring}. What an opcode has no use for is 0.
   *
   * @param operand expected value or addend
   * @param desired value to store when the expected one was found
   */
  protected abstract void stage(
      Opcode opcode,
      long workRequestId,
      ScatterGather local,
      long remoteAddress,
      int rkey,
      int immediate,
      long operand,
      long desired,
      int flags);

  @Override
  public final void write(
      long workRequestId, ScatterGather local, long remoteAddress, int rkey, int flags) {
    stage(Opcode.WRITE, workRequestId, local, remoteAddress, rkey, 0, 0, 0, flags);
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
    stage(opcode, workRequestId, local, remoteAddress, rkey, immediate, 0, 0, flags);
  }

  @Override
  public final void read(
      long workRequestId, ScatterGather local, long remoteAddress, int rkey, int flags) {
    stage(Opcode.READ, workRequestId, local, remoteAddress, rkey, 0, 0, 0, flags);
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
    Opcode opcode = Opcode.COMPARE_AND_SWAP;
    stage(opcode, workRequestId, local, remoteAddress, rkey, 0, expected, desired, flags);
  }

  @Override
  public final void fetchAndAdd(
      long workRequestId,
      ScatterGather local,
      long remoteAddress,
      int rkey,
      long addend,
      int flags) {
    Opcode opcode = Opcode.FETCH_AND_ADD;
    stage(opcode, workRequestId, local, remoteAddress, rkey, 0, addend, 0, flags);
  }
}
