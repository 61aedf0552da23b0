package io.takofs.sim;

import io.takofs.layout.Layout;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import java.util.function.IntFunction;

/** Bits of a server's arenas that have changed by themselves. */
public final class SimFlips {
  private static final int TRIES = 200;

  private final int arenas;
  private final IntFunction<ByteBuffer> memory;
  private final Map<Place, Byte> flipped = new HashMap<>(); // what the byte has been since
  private int count;

  private record Place(int arena, int offset) {}

  /**
   * @param memory of each arena, by its number
   */
  public SimFlips(int arenas, IntFunction<ByteBuffer> memory) {
    this.arenas = arenas;
    this.memory = memory;
  }

  /** How many there were, whatever has been stored over them since. */
  public int count() {
    return count;
  }

  /** Says of a byte whether a bit of it may change. */
  @FunctionalInterface
  public interface Condition {
    boolean mayFlip(int arena, int offset);
  }

  /** A bit changes of a byte that is not zero, if one is found where it may. */
  public void flip(Random random, Condition condition) {
    for (int i = 0; i < TRIES; i++) {
      int arena = random.nextInt(arenas);
      ByteBuffer bytes = memory.apply(arena);
      int at = random.nextInt(bytes.capacity());
      if (bytes.get(at) != 0 && condition.mayFlip(arena, at)) {
        byte wrong = (byte) (bytes.get(at) ^ 1 << random.nextInt(Byte.SIZE));
        bytes.put(at, wrong);
        flipped.put(new Place(arena, at), wrong);
        count++;
        return;
      }
    }
  }

  /** Whether a byte of an extent, or of its checksums, is one that was left by a flip. */
  public boolean areIn(int arena, int offset, int length) {
    return flipped.entrySet().stream()
        .anyMatch(
            each -> {
              Place place = each.getKey();
              return place.arena == arena
                  && isOf(place.offset, offset, length)
                  && memory.apply(arena).get(place.offset) == each.getValue();
            });
  }

  /** Whether the byte {@code at} is one of the extent at {@code offset}, or of its checksums. */
  public static boolean isOf(int at, int offset, int length) {
    int entries = offset / Layout.GRANULE_SIZE * Integer.BYTES;
    int entriesEnd = entries + length / Layout.GRANULE_SIZE * Integer.BYTES;
    return (at >= offset && at < offset + length) || (at >= entries && at < entriesEnd);
  }

  /** The memory was cleared. */
  void forget() {
    flipped.clear();
  }
}
