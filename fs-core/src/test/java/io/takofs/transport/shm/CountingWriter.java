package io.takofs.transport.shm;

import io.takofs.transport.CompletionHandler;
import io.takofs.transport.CompletionStatus;
import io.takofs.transport.Opcode;
import io.takofs.transport.QueuePair;
import io.takofs.transport.ScatterGather;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.stream.Collectors;

/**
 * Writes numbers that go up, each to all blocks of the peer's region in one batch of large writes,
 * and keeps the greatest one of each block that completed with success.
 */
final class CountingWriter implements CompletionHandler {
  static final int BLOCK = 256 << 10;
  static final int BLOCKS = ShmSide.DEPTH;
  static final int REGION = BLOCKS * BLOCK;

  /** Bytes from one place where a number is stored to the next. */
  static final int STRIDE = 512;

  private final ShmSide side;
  private final QueuePair pair;
  private final long[] counted = new long[BLOCKS];
  private int outstanding;

  CountingWriter(ShmSide side, QueuePair pair) {
    this.side = side;
    this.pair = pair;
  }

  /** Writes until the pair has ended and how every write did is known. */
  void run() {
    for (long number = 1; pair.state() == QueuePair.State.CONNECTED; number++) {
      post(number);
      while (outstanding > 0) {
        side.queue.poll(this, BLOCKS);
      }
    }
  }

  private void post(long number) {
    ByteBuffer bytes = side.region.buffer();
    for (int at = 0; at < REGION; at += STRIDE) {
      bytes.putLong(at, number);
    }
    for (int block = 0; block < BLOCKS; block++) {
      int offset = block * BLOCK;
      ScatterGather piece = new ScatterGather().add(side.region, offset, BLOCK);
      long address = ShmSide.addressOf(pair) + offset;
      long id = number * BLOCKS + block;
      pair.write(id, piece, address, ShmSide.rkeyOf(pair), QueuePair.SIGNALED);
    }
    outstanding = BLOCKS;
    pair.ring();
  }

  @Override
  public void onCompletion(
      QueuePair of, long id, Opcode opcode, CompletionStatus status, int bytes, int immediate) {
    outstanding--;
    if (status == CompletionStatus.SUCCESS) {
      counted[(int) (id % BLOCKS)] = id / BLOCKS;
    }
  }

  /** What counts, as one line. */
  String report() {
    return Arrays.stream(counted).mapToObj(Long::toString).collect(Collectors.joining(" "));
  }

  static long[] parse(String report) {
    return Arrays.stream(report.split(" ")).mapToLong(Long::parseLong).toArray();
  }
}
