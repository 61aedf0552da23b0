package io.takofs.server.log;

import io.takofs.base.TakoException;
import io.takofs.proto.Status;
import io.takofs.server.segment.FrameCodec;
import io.takofs.server.segment.LogZone;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * A long random life of one log, with crashes at random points, against a list. Polled entries must
 * be there after every crash, byte for byte; proposed ones may be, in order; nothing else ever.
 * Everything follows from the seed.
 */
final class LogSimulation {
  private static final int SLOTS = 4;
  private static final int DATA_BYTES = 2048;

  private final long seed;
  private final Random random;
  private final Supplier<FrameCodec> codec;
  private final Consumer<LogZone> atRestart;
  private final CrashingMemory memory;

  /** Payload of entry i + 1; null once a checkpoint covers it. */
  private final List<byte[]> entries = new ArrayList<>();

  private SegmentedLog log;
  private int polled;
  private int checkpoint;
  private long term;

  /**
   * @param codec makes the codec under test
   * @param atRestart what else is done to the memory before each recovery
   */
  LogSimulation(long seed, Supplier<FrameCodec> codec, Consumer<LogZone> atRestart) {
    this.seed = seed;
    this.random = new Random(seed);
    this.codec = codec;
    this.atRestart = atRestart;
    this.memory = new CrashingMemory(random, SLOTS, DATA_BYTES);
  }

  /** The log as it is, undamaged. */
  LogSimulation(long seed) {
    this(seed, FrameCodec::new, zone -> {});
  }

  /** Takes {@code steps} steps; fails with an AssertionError that names the seed. */
  void run(int steps) throws TakoException {
    restart();
    for (int i = 0; i < steps; i++) {
      try {
        step();
      } catch (CrashingMemory.Crash crash) {
        memory.crash();
        restart();
      }
    }
    checkFlippedBit();
  }

  private void step() throws TakoException {
    switch (random.nextInt(16)) {
      case 0 -> restart();
      case 1 -> {
        memory.crash();
        restart();
      }
      case 2 -> memory.crashAtPersist(random.nextInt(12));
      case 3 -> checkpoint(checkpoint + random.nextInt(polled - checkpoint + 1));
      case 4, 5, 6 -> poll();
      case 7 -> checkFlippedBit();
      default -> propose();
    }
  }

  private void propose() throws TakoException {
    byte[] entry = LogFixture.randomBytes(random, 1 + random.nextInt(random.nextInt(400) + 1));
    // It may be in the log from the moment of the call on.
    int index = entries.size() + 1;
    try {
      entries.add(entry);
      check(log.propose(ByteBuffer.wrap(entry)) == index, "wrong index");
    } catch (TakoException e) {
      check(e.status() == Status.NO_SPACE, e.toString());
      entries.remove(index - 1);
      poll();
      checkpoint(polled);
      entries.add(entry);
      check(log.propose(ByteBuffer.wrap(entry)) == index, "wrong index after trim");
    }
  }

  private void poll() {
    int before = polled;
    List<byte[]> delivered = LogFixture.poll(log, before);
    check(before + delivered.size() == entries.size(), "not everything was committed");
    checkEqual(delivered, before);
    polled = entries.size();
  }

  private void checkpoint(int index) {
    checkpoint = index;
    log.trim(index);
  }

  private void restart() throws TakoException {
    while (true) {
      try {
        atRestart.accept(memory.zone());
        log = new SegmentedLog(memory.zone(), LogFixture.IDENTITY, checkpoint, codec.get());
        log.lead(++term);
        break;
      } catch (CrashingMemory.Crash crash) {
        memory.crash();
      } catch (TakoException e) {
        throw failure(e.toString());
      }
    }
    List<byte[]> recovered = LogFixture.poll(log, checkpoint);
    int last = checkpoint + recovered.size();
    check(last >= polled, "recovered " + last + " entries, but " + polled + " were committed");
    check(last <= entries.size(), "recovered " + last + " of " + entries.size() + " entries");
    checkEqual(recovered, checkpoint);
    entries.subList(last, entries.size()).clear();
    polled = last;
  }

  /** One flipped bit anywhere: either all that is committed is there, or the log is refused. */
  private void checkFlippedBit() {
    LogFixture damaged = memory.withFlippedBit();
    atRestart.accept(damaged.zone());
    try {
      SegmentedLog other =
          new SegmentedLog(damaged.zone(), LogFixture.IDENTITY, checkpoint, codec.get());
      List<byte[]> recovered = LogFixture.poll(other, checkpoint);
      check(checkpoint + recovered.size() >= polled, "a flipped bit hid committed entries");
      checkEqual(recovered, checkpoint);
    } catch (TakoException e) {
      check(e.status() == Status.CORRUPT, e.toString());
    }
  }

  private void checkEqual(List<byte[]> actual, int from) {
    for (int i = 0; i < actual.size(); i++) {
      check(
          Arrays.equals(actual.get(i), entries.get(from + i)),
          "entry " + (from + i + 1) + " has other bytes");
    }
  }

  private void check(boolean holds, String what) {
    if (!holds) {
      throw failure(what);
    }
  }

  private AssertionError failure(String what) {
    return new AssertionError("seed " + seed + ": " + what);
  }
}
