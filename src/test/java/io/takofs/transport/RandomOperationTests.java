package io.takofs.transport;

import static io.takofs.transport.TransportHarness.assertBytes;
import static io.takofs.transport.TransportHarness.fill;

import io.takofs.transport.TransportHarness.Pair;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Random;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Random operations of several pairs against plain byte arrays. */
interface RandomOperationTests extends HarnessedTests {
  int AREA = 1 << 20;
  int PAIRS = 3;
  int ROUNDS = 120;

  /**
   * Each pair owns an area of the target and of the local region. Within one round the operations
   * of a pair do not overlap, because nothing is promised about overlapping ones; rounds are
   * separated by completions.
   */
  @ParameterizedTest(name = "seed {0}")
  @ValueSource(longs = {1, 2, 3, 4})
  default void shouldAgreeWithAByteArray(long seed) throws IOException {
    Random random = new Random(seed);
    TransportHarness h = harness();
    h.receivesAtAccept = TransportSide.MAX_RECEIVES;
    Pair[] pairs = new Pair[PAIRS];
    for (int i = 0; i < PAIRS; i++) {
      pairs[i] = h.connect();
    }
    MemoryRegion local = h.client.region(PAIRS * AREA, Access.LOCAL);
    MemoryRegion target = h.server.region(PAIRS * AREA, Access.REMOTE_ATOMIC);
    ByteBuffer localModel = ByteBuffer.wrap(fill(local, seed)).order(ByteOrder.LITTLE_ENDIAN);
    ByteBuffer model = ByteBuffer.wrap(fill(target, ~seed)).order(ByteOrder.LITTLE_ENDIAN);

    int immediates = 0;
    for (int round = 0; round < ROUNDS; round++) {
      int signalled = 0;
      int expectedReceives = 0;
      for (int p = 0; p < PAIRS; p++) {
        QueuePair queuePair = pairs[p].client();
        int operations = 1 + random.nextInt(12);
        int slice = (AREA / operations) & ~7;
        for (int i = 0; i < operations; i++) {
          boolean last = i == operations - 1;
          int flags = last || random.nextInt(3) == 0 ? QueuePair.SIGNALED : 0;
          signalled += flags;
          int base = p * AREA + i * slice;
          int kind = random.nextInt(8);
          long id = ((long) round << 32) | i;
          if (kind >= 6) {
            atomic(queuePair, id, random, local, target, localModel, model, base, flags);
          } else {
            ScatterGather pieces = randomPieces(random, local, base, slice);
            int length = pieces.totalLength();
            int remote = base + random.nextInt(slice - length + 1);
            if (kind < 2) {
              queuePair.read(id, pieces, target.address() + remote, target.rkey(), flags);
              copy(pieces, localModel, model, remote, false);
            } else if (kind < 5) {
              queuePair.write(id, pieces, target.address() + remote, target.rkey(), flags);
              copy(pieces, localModel, model, remote, true);
            } else {
              queuePair.writeWithImmediate(
                  id, pieces, target.address() + remote, target.rkey(), immediates++, flags);
              copy(pieces, localModel, model, remote, true);
              expectedReceives++;
            }
          }
          if (random.nextInt(4) == 0) {
            queuePair.ring();
          }
        }
        queuePair.ring();
      }
      for (int i = 0; i < signalled; i++) {
        h.awaitSuccess(h.client);
      }
      for (int i = 0; i < expectedReceives; i++) {
        h.awaitSuccess(h.server).queuePair().postReceive(i);
      }
      assertBytes(target, 0, model.array());
      assertBytes(local, 0, localModel.array());
    }
  }

  private static void atomic(
      QueuePair queuePair,
      long id,
      Random random,
      MemoryRegion local,
      MemoryRegion target,
      ByteBuffer localModel,
      ByteBuffer model,
      int base,
      int flags) {
    int word = base + 8 * random.nextInt(16);
    int old = base + 8 * random.nextInt(16);
    long before = model.getLong(word);
    localModel.putLong(old, before);
    ScatterGather sink = TransportHarness.piece(local, old, 8);
    long desired = random.nextLong();
    if (random.nextBoolean()) {
      queuePair.fetchAndAdd(id, sink, target.address() + word, target.rkey(), desired, flags);
      model.putLong(word, before + desired);
    } else {
      boolean equal = random.nextBoolean();
      queuePair.compareAndSwap(
          id,
          sink,
          target.address() + word,
          target.rkey(),
          equal ? before : ~before,
          desired,
          flags);
      model.putLong(word, equal ? desired : before);
    }
  }

  /** Disjoint pieces within [base, base + slice), mostly small, in ascending order. */
  private static ScatterGather randomPieces(
      Random random, MemoryRegion local, int base, int slice) {
    ScatterGather pieces = new ScatterGather();
    int count = 1 + random.nextInt(random.nextInt(4) == 0 ? ScatterGather.MAX : 2);
    int room = slice / count;
    for (int i = 0; i < count; i++) {
      int length = random.nextInt(random.nextBoolean() ? Math.min(room, 200) : room);
      int slack = random.nextInt(Math.min(room - length, 64) + 1);
      pieces.add(local, base + i * room + slack, length);
    }
    return pieces;
  }

  private static void copy(
      ScatterGather pieces, ByteBuffer local, ByteBuffer remote, int remoteOffset, boolean write) {
    int at = remoteOffset;
    for (int i = 0; i < pieces.count(); i++) {
      if (write) {
        remote.put(at, local, pieces.offset(i), pieces.length(i));
      } else {
        local.put(pieces.offset(i), remote, at, pieces.length(i));
      }
      at += pieces.length(i);
    }
  }
}
