package io.takofs.transport;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;

/**
 * One end of a reliable connection. Operations are staged by the methods named after them and
 * handed to the transport together by {@link #ring}, which costs one doorbell.
 *
 * <p>A staged or posted operation's local bytes must stay unchanged until its completion, or until
 * the completion of a later signalled operation of the same pair. Every send that fails completes,
 * signalled or not. Staging in state ERROR is allowed; the operation completes as FLUSHED.
 *
 * <p>Thread rule: one thread at a time.
 */
public interface QueuePair extends AutoCloseable {
  /** State of the pair; it only moves forward. */
  enum State {
    CONNECTED,
    ERROR,
    CLOSED
  }

  /** Operation flag: report success too. Failures are always reported. */
  int SIGNALED = 1;

  /** Number of this pair, unique within its transport in this process. */
  int number();

  State state();

  /** Why the pair is in ERROR, naming the peer; empty while CONNECTED. */
  String errorText();

  /** The peer, for messages and logs. */
  String remoteName();

  /** Private data the peer gave when the connection was made; at most 56 bytes. */
  byte[] remotePrivateData();

  /** Stages a write of local bytes to the peer's memory. */
  void write(long workRequestId, ScatterGather local, long remoteAddress, int rkey, int flags);

  /** Stages a write that also consumes a receive of the peer and hands it {@code immediate}. */
  void writeWithImmediate(
      long workRequestId,
      ScatterGather local,
      long remoteAddress,
      int rkey,
      int immediate,
      int flags);

  /** Stages a read of the peer's memory into local bytes. */
  void read(long workRequestId, ScatterGather local, long remoteAddress, int rkey, int flags);

  /** Stages an 8-byte compare-and-swap; the old value lands in the 8 local bytes. */
  void compareAndSwap(
      long workRequestId,
      ScatterGather local,
      long remoteAddress,
      int rkey,
      long expected,
      long desired,
      int flags);

  /** Stages an 8-byte fetch-and-add; the old value lands in the 8 local bytes. */
  void fetchAndAdd(
      long workRequestId,
      ScatterGather local,
      long remoteAddress,
      int rkey,
      long addend,
      int flags);

  /**
   * Stages the binding of part of a region to a window: from its completion on the peer of this
   * pair reaches that part by {@link MemoryWindow#rkey}. Once for each window before {@link #ring}.
   *
   * @param access what the peer may do there, whatever the region's own key allows
   * @throws IOException when the device has no room for it; nothing is staged
   */
  default void bind(
      long workRequestId,
      MemoryWindow window,
      MemoryRegion region,
      int offset,
      int length,
      Access access,
      int flags)
      throws IOException {
    throw new UnsupportedOperationException("the transport has no memory windows");
  }

  /**
   * Stages the end of a window's key: from its completion on nobody reaches anything by it, but
   * what was under way may still become visible. A read through the pair that is posted after it
   * completes when all of it is.
   */
  default void invalidate(long workRequestId, MemoryWindow window, int flags) {
    throw new UnsupportedOperationException("the transport has no memory windows");
  }

  /** Hands all staged operations to the transport, in order. */
  void ring();

  /** Sends that may still be staged before completions must be polled. */
  int sendSlotsFree();

  /** Posts one receive (a credit for one writeWithImmediate of the peer). */
  void postReceive(long workRequestId);

  /**
   * The peer's memory itself, where the transport maps it (load and store instead of read and
   * write), little-endian. Null where it does not, and when the peer has taken its memory away,
   * which it may have done a while before this pair fails. The bytes of other processes: never
   * trust them.
   */
  ByteBuffer map(long remoteAddress, int length, int rkey);

  /**
   * Ends the pair from this side, the target of the peer's writes.
   *
   * <p>Whatever it returns: a write that the peer posted completes there with SUCCESS only if all
   * its bytes were in this side's memory, and visible to this side's processor, before this
   * returned. So a copy of the memory that is made afterwards has every byte of every write that
   * the peer ever counts as successful, also of one whose completion it polls much later.
   *
   * <p>True: nothing of the peer's lands any more. False: stray bytes may still land (a peer that
   * shares the memory and has not released it, whether it runs or is stopped). They never count,
   * but until a later call returns true the memory must not be given to another use; ask again.
   * What a peer stores through {@link #map} is no write of the pair and has no completion.
   *
   * @throws UncheckedIOException when not even the first can be promised, because an RDMA device
   *     did not take the pair out of service. Nothing is known then of what the peer counts; ask
   *     again
   */
  boolean revoke();

  /** Moves to CLOSED and releases everything; outstanding operations complete as FLUSHED first. */
  @Override
  void close();
}
