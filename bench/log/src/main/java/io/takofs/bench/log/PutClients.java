package io.takofs.bench.log;

import io.takofs.base.Invariant;
import io.takofs.base.TakoException;
import io.takofs.server.log.Log;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.SplittableRandom;

/**
 * The clients of one server: each waits for its put, or does one operation after the other. Their
 * operations are called, not sent: what is measured is the server.
 *
 * <p>Thread rule: one thread.
 */
final class PutClients implements Log.CommitHandler {
  private static final int PERCENT = 100;
  private static final int CLIENTS_MAX = 1 << 10;

  /** Operations of one client in a turn at most. */
  private static final int OPERATIONS_IN_A_TURN = 4;

  private final KeyValueTable table;
  private final ZipfDraws objects;
  private final SplittableRandom random;
  private final RunWindows windows;
  private final ByteBuffer entry =
      ByteBuffer.allocate(KeyValueTable.ENTRY_SIZE).order(ByteOrder.LITTLE_ENDIAN);
  private final ByteBuffer value = ByteBuffer.allocate(KeyValueTable.VALUE_SIZE);
  private final long[] begunNs = new long[CLIENTS_MAX];
  private int firstWaiting; // of a ring: puts are committed in the order in which they were begun
  private int waiting;
  private long nextIndex; // of the first one that waits
  private long nowNs;
  private long puts;
  private long gets;

  PutClients(KeyValueTable table, ZipfDraws objects, long seed, RunWindows windows) {
    this.table = table;
    this.windows = windows;
    this.objects = objects;
    this.random = new SplittableRandom(seed);
  }

  /** Fills the table. */
  void load(int count) {
    for (int i = 0; i < count; i++) {
      KeyValueTable.writeKey(entry, 0, i);
      table.put(entry, 0);
    }
  }

  /** Puts that were committed so far. */
  long puts() {
    return puts;
  }

  /** Values that were read so far. */
  long gets() {
    return gets;
  }

  /** Puts that are not committed. */
  int waiting() {
    return waiting;
  }

  /**
   * Lets every client that waits for nothing do its next operations, up to a put.
   *
   * @param clients of this server
   * @param now on the clock of latencies
   */
  void operate(Log log, int clients, int readPercent, long now) throws TakoException {
    nowNs = now;
    for (int idle = clients - waiting; idle > 0; idle--) {
      boolean waits = false;
      for (int i = 0; i < OPERATIONS_IN_A_TURN && !waits; i++) {
        KeyValueTable.writeKey(entry, 0, objects.next());
        waits = readPercent == 0 || random.nextInt(PERCENT) >= readPercent;
        if (waits) {
          put(log);
        } else {
          Invariant.check(table.get(entry, 0, value), "each object has a value");
          gets++;
        }
      }
    }
  }

  private void put(Log log) throws TakoException {
    entry.putLong(KeyValueTable.KEY_SIZE, puts);
    long index = log.propose(entry.clear());
    if (waiting == 0) {
      nextIndex = index;
    }
    Invariant.check(index == nextIndex + waiting, "nobody else proposes");
    begunNs[firstWaiting + waiting++ & CLIENTS_MAX - 1] = nowNs;
  }

  /** Applies the put and answers its client. */
  @Override
  public void onCommit(long index, long term, ByteBuffer payload) {
    if (payload.remaining() != KeyValueTable.ENTRY_SIZE) {
      return; // the leader has begun its term
    }
    table.put(payload.order(ByteOrder.LITTLE_ENDIAN), 0);
    Invariant.check(waiting > 0 && index == nextIndex, "puts are committed in their order");
    nextIndex++;
    waiting--;
    puts++;
    windows.add(begunNs[firstWaiting], System.nanoTime());
    firstWaiting = firstWaiting + 1 & CLIENTS_MAX - 1;
  }
}
