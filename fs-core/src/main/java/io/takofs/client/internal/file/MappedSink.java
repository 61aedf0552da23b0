package io.takofs.client.internal.file;

import io.takofs.base.TakoException;
import io.takofs.client.internal.zone.MappedZone;
import io.takofs.layout.Layout;
import io.takofs.memory.Granules;
import io.takofs.memory.Stores;
import io.takofs.proto.Extent;
import io.takofs.proto.Placement;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.function.Consumer;

/** Stores into mapped memory: the caller writes directly into the server's memory. */
final class MappedSink implements ExtentSink {
  private final ZoneAccess access;
  private MappedZone zone;

  /** The extent that is present to be written, and its arena. */
  private Extent prepared;

  private ByteBuffer arena;

  MappedSink(ZoneAccess access) {
    this.access = access;
  }

  @Override
  public void write(Extent extent, int offset, ByteBuffer source) throws TakoException {
    int at = extent.getOffset() + offset;
    int length = source.remaining();
    place(extent, to -> Stores.copy(to, at, source, source.position(), length));
    source.position(source.position() + length);
  }

  @Override
  public void writeGranules(Extent extent, int offset, ByteBuffer source, int count, int[] crcs)
      throws TakoException {
    int at = extent.getOffset() + offset;
    place(extent, to -> Granules.store(to, at, source, source.position(), count, crcs));
    source.position(source.position() + count * Layout.GRANULE_SIZE);
  }

  @Override
  public void writeChecksums(Extent extent, int granule, int[] crcs, int count)
      throws TakoException {
    int first = (extent.getOffset() / Layout.GRANULE_SIZE + granule) * Integer.BYTES;
    place(
        extent,
        to -> {
          for (int i = 0; i < count; i++) {
            to.putInt(first + i * Integer.BYTES, crcs[i]);
          }
        });
  }

  /** Stores, again and again until it was into the server's memory. */
  private void place(Extent extent, Consumer<ByteBuffer> store) throws TakoException {
    long deadlineNs = 0;
    for (boolean placed = false; !placed; ) {
      ByteBuffer to = arenaOf(extent);
      if (to != null) {
        store.accept(to);
        placed = zone.isOpen();
      } else {
        deadlineNs = access.awaitArena(extent.getArena(), deadlineNs);
      }
    }
  }

  /** Asks once for each extent: an atomic operation would wait for the stores before it. */
  private ByteBuffer arenaOf(Extent extent) throws TakoException {
    if (zone == null || !zone.isOpen()) {
      zone = access.mapped();
      prepared = null;
    }
    if (!isPrepared(extent)) {
      arena = zone.writable(extent);
      prepared = arena == null ? null : extent;
    }
    return arena;
  }

  private boolean isPrepared(Extent extent) {
    return prepared != null
        && prepared.getArena() == extent.getArena()
        && prepared.getOffset() == extent.getOffset();
  }

  @Override
  public void flush() {
    // A store is placed when it is done, and the commit's RPC orders it before the server's look.
  }

  @Override
  public List<Placement> inlineTail() {
    return List.of();
  }

  @Override
  public void inlineTailPlaced() {}

  @Override
  public boolean allCompleted() {
    return true;
  }

  @Override
  public void close() {}
}
