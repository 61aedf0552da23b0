package io.takofs.client;

import io.takofs.base.TakoException;
import io.takofs.proto.RemoteArena;
import io.takofs.proto.Status;
import io.takofs.transport.QueuePair;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BooleanSupplier;

/**
 * A data zone whose arenas are mapped into this process.
 *
 * <p>The mapping may be taken away at any time, when the connection ends: from then on stores go
 * nowhere and loads see anything. So whoever stored asks {@link #isOpen} afterwards; if it still
 * is, the bytes are placed. Whoever loaded verifies.
 *
 * <p>Thread rule: any thread.
 */
final class MappedZone implements DataZone {
  private final Map<Integer, ByteBuffer> arenas;
  private final BooleanSupplier attached;
  private final Runnable detach;

  /**
   * A zone of {@code arenas} by index.
   *
   * @param attached whether stores reach the server
   * @param detach ends that
   */
  MappedZone(Map<Integer, ByteBuffer> arenas, BooleanSupplier attached, Runnable detach) {
    this.arenas = arenas;
    this.attached = attached;
    this.detach = detach;
  }

  /**
   * Maps all {@code arenas} and takes {@code pair} over; null, and {@code pair} stays the caller's,
   * when its transport cannot map.
   */
  static MappedZone map(List<RemoteArena> arenas, QueuePair pair) {
    Map<Integer, ByteBuffer> mapped = new HashMap<>();
    for (RemoteArena arena : arenas) {
      ByteBuffer memory =
          pair.map(arena.getAddress(), Math.toIntExact(arena.getLength()), arena.getRkey());
      if (memory == null) {
        return null;
      }
      mapped.put(arena.getIndex(), memory);
    }
    return new MappedZone(mapped, () -> pair.state() == QueuePair.State.CONNECTED, pair::close);
  }

  @Override
  public boolean isOpen() {
    return attached.getAsBoolean();
  }

  /** All of an arena, little-endian; only absolute access. */
  ByteBuffer arena(int index) throws TakoException {
    ByteBuffer memory = arenas.get(index);
    if (memory == null) {
      throw new TakoException(
          Status.INTERNAL, "the server named arena " + index + ", which it has not shown");
    }
    return memory;
  }

  @Override
  public void close() {
    detach.run();
  }
}
