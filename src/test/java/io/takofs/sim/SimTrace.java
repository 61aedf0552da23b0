package io.takofs.sim;

import java.nio.ByteBuffer;

/**
 * What happened in a run, as one number: every event with its time and process, every byte that
 * went over the network. Two runs with the same number did the same.
 *
 * <p>{@code -Dtako.sim.trace=true} prints every step, so that two runs that differ can be compared
 * by lines.
 */
public final class SimTrace {
  private static final boolean PRINTED = Boolean.getBoolean("tako.sim.trace");
  private static final long FACTOR = 0x9E3779B97F4A7C15L;

  private long hash;

  /** An event happens. */
  void event(long timeNs, long number, SimProcess process) {
    add(timeNs);
    add(number);
    add(process.name().hashCode());
    if (PRINTED) {
      System.out.println(timeNs + " " + number + " " + process.name());
    }
  }

  /** Bytes begin their way. */
  void bytes(Object what, ByteBuffer sent) {
    long before = hash;
    add(what.toString().hashCode());
    add(sent.remaining());
    add(sent.hashCode());
    if (PRINTED) {
      System.out.printf("  %s of %d bytes: %x to %x%n", what, sent.remaining(), before, hash);
    }
  }

  public long hash() {
    return hash;
  }

  private void add(long value) {
    hash = Long.rotateLeft((hash ^ value) * FACTOR, 29);
  }
}
