package io.takofs.client;

import io.takofs.base.TakoException;
import io.takofs.layout.Layout;
import io.takofs.memory.Stores;
import io.takofs.proto.Extent;
import io.takofs.proto.Placement;
import java.nio.ByteBuffer;
import java.util.List;

/** Stores into mapped memory: one copy, straight from the caller's bytes. */
final class MappedSink implements ExtentSink {
  private final ZoneAccess access;
  private MappedZone zone;

  MappedSink(ZoneAccess access) {
    this.access = access;
  }

  @Override
  public void write(Extent extent, int offset, ByteBuffer source) throws TakoException {
    int length = source.remaining();
    long deadlineNs = 0;
    for (boolean placed = false; !placed; ) {
      ByteBuffer arena = attach().writable(extent);
      if (arena != null) {
        Stores.copy(arena, extent.getOffset() + offset, source, source.position(), length);
        placed = zone.isOpen();
      } else {
        deadlineNs = access.awaitArena(extent.getArena(), deadlineNs);
      }
    }
    source.position(source.position() + length);
  }

  @Override
  public void writeChecksum(Extent extent, int granule, int crc32c) throws TakoException {
    int entry = (extent.getOffset() / Layout.GRANULE_SIZE + granule) * Integer.BYTES;
    long deadlineNs = 0;
    for (boolean placed = false; !placed; ) {
      ByteBuffer arena = attach().arena(extent.getArena());
      if (arena != null) {
        arena.putInt(entry, crc32c);
        placed = zone.isOpen();
      } else {
        deadlineNs = access.awaitArena(extent.getArena(), deadlineNs);
      }
    }
  }

  private MappedZone attach() throws TakoException {
    if (zone == null || !zone.isOpen()) {
      zone = access.mapped();
    }
    return zone;
  }

  @Override
  public void flush() {
    // A store is placed when it is done, and the commit's RPC orders it before the server's look.
  }

  @Override
  public List<Placement> rest() {
    return List.of();
  }

  @Override
  public void restPlaced() {}

  @Override
  public boolean allCompleted() {
    return true;
  }

  @Override
  public void close() {}
}
