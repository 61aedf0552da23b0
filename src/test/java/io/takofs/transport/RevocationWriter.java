package io.takofs.transport;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Arrays;

/**
 * The peer of a pair that is revoked: it writes numbers that go up, each all over one block of the
 * target, and keeps the greatest one of each block that completed with success.
 *
 * <p>Thread rule: one thread, which also polls the completion queue; {@link #posted} by any.
 */
final class RevocationWriter implements CompletionHandler, AutoCloseable {
  static final int BLOCKS = 16;

  /** Writes with immediate at most, of a target that posts this many receives. */
  static final int IMMEDIATES_MAX = 60;

  private static final int WRITES_PER_IMMEDIATE = 4;

  private final TransportSide side;
  private final QueuePair pair;
  private final MemoryRegion target;
  private final MemoryRegion local;
  private final int blockBytes;
  private final long[] counted = new long[BLOCKS];
  private volatile long posted;
  private int immediates;
  private int outstanding;

  RevocationWriter(TransportSide side, QueuePair pair, MemoryRegion target) throws IOException {
    this.side = side;
    this.pair = pair;
    this.target = target;
    this.local = side.region(target.length(), Access.LOCAL);
    this.blockBytes = target.length() / BLOCKS;
  }

  /** The last number that was posted. */
  long posted() {
    return posted;
  }

  /** Takes what is completed and, when that is everything, writes to all blocks, in one batch. */
  void step() {
    int taken;
    do {
      taken = side.queue.poll(this, BLOCKS);
    } while (taken > 0);
    if (outstanding > 0 || pair.state() != QueuePair.State.CONNECTED) {
      return;
    }
    long number = posted;
    for (int block = 0; block < BLOCKS; block++) {
      stage(++number, block * blockBytes);
    }
    outstanding = BLOCKS;
    posted = number;
    pair.ring();
  }

  private void stage(long number, int offset) {
    ByteBuffer bytes = local.buffer();
    for (int at = offset; at < offset + blockBytes; at += Long.BYTES) {
      bytes.putLong(at, number);
    }
    ScatterGather piece = new ScatterGather().add(local, offset, blockBytes);
    long address = target.address() + offset;
    if (number % WRITES_PER_IMMEDIATE == 0 && immediates < IMMEDIATES_MAX) {
      int immediate = immediates++;
      pair.writeWithImmediate(number, piece, address, target.rkey(), immediate, QueuePair.SIGNALED);
    } else {
      pair.write(number, piece, address, target.rkey(), QueuePair.SIGNALED);
    }
  }

  @Override
  public void onCompletion(
      QueuePair of, long number, Opcode opcode, CompletionStatus status, int bytes, int immediate) {
    outstanding--;
    if (status == CompletionStatus.SUCCESS) {
      counted[blockOf(number)] = number;
    }
  }

  private static int blockOf(long number) {
    return (int) ((number - 1) % BLOCKS);
  }

  /** Whether the pair has ended, and how every write did is known. */
  boolean isOver() {
    return pair.state() != QueuePair.State.CONNECTED && outstanding == 0;
  }

  /** The first word of {@code copy} that is older than what counts; -1 if none is. */
  int firstMissing(ByteBuffer copy) {
    ByteBuffer words = copy.duplicate().order(local.buffer().order());
    for (int at = 0; at < words.limit(); at += Long.BYTES) {
      if (words.getLong(at) < counted[at / blockBytes]) {
        return at;
      }
    }
    return -1;
  }

  @Override
  public void close() {
    local.close();
  }

  /** For messages. */
  @Override
  public String toString() {
    return "posted up to " + posted + ", counted by block " + Arrays.toString(counted);
  }
}
