package io.takofs.transport;

/**
 * A send as {@code ibv_send_wr} has it: an operation on memory of the peer, on the way from the
 * method named after it to the transport's queue. A flyweight: each queue pair reuses one, so that
 * posting allocates nothing.
 *
 * <p>Thread rule: the thread that posts.
 */
public final class WorkRequest {
  private static final ScatterGather NO_MEMORY = new ScatterGather();

  private Opcode opcode;
  private long id;
  private ScatterGather local;
  private long remoteAddress;
  private int rkey;
  private int flags;
  private int immediate;
  private long operand;
  private long desired;

  /**
   * Sets the fields that every operation has, and the others to 0.
   *
   * @param flags {@link QueuePair#SIGNALED} or 0
   */
  public WorkRequest set(
      Opcode opcode, long id, ScatterGather local, long remoteAddress, int rkey, int flags) {
    this.opcode = opcode;
    this.id = id;
    this.local = local;
    this.remoteAddress = remoteAddress;
    this.rkey = rkey;
    this.flags = flags;
    this.immediate = 0;
    this.operand = 0;
    this.desired = 0;
    return this;
  }

  /** As the other {@code set}, of an operation that uses no local memory. */
  public WorkRequest set(Opcode opcode, long id, long remoteAddress, int rkey, int flags) {
    return set(opcode, id, NO_MEMORY, remoteAddress, rkey, flags);
  }

  public WorkRequest withImmediate(int immediate) {
    this.immediate = immediate;
    return this;
  }

  /**
   * Sets what an atomic operation works with.
   *
   * @param operand expected value or addend
   * @param desired value to store when the expected one was found
   */
  public WorkRequest withOperands(long operand, long desired) {
    this.operand = operand;
    this.desired = desired;
    return this;
  }

  public Opcode opcode() {
    return opcode;
  }

  /** Number that the completion repeats. */
  public long id() {
    return id;
  }

  /** Pieces of local memory; empty for an operation that uses none. */
  public ScatterGather local() {
    return local;
  }

  public long remoteAddress() {
    return remoteAddress;
  }

  public int rkey() {
    return rkey;
  }

  public int flags() {
    return flags;
  }

  public boolean isSignaled() {
    return (flags & QueuePair.SIGNALED) != 0;
  }

  /** Whether it changes 8 bytes of the peer's memory as one step. */
  public boolean isAtomic() {
    return opcode == Opcode.COMPARE_AND_SWAP || opcode == Opcode.FETCH_AND_ADD;
  }

  /** The number that the peer's receive gets; 0 where the opcode has none. */
  public int immediate() {
    return immediate;
  }

  /** Expected value or addend; 0 where the opcode has none. */
  public long operand() {
    return operand;
  }

  /** Value to store when the expected one was found; 0 where the opcode has none. */
  public long desired() {
    return desired;
  }
}
