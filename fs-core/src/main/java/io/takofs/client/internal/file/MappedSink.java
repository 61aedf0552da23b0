package io.takofs.client.internal.file;

import io.takofs.base.TakoException;
import io.takofs.client.internal.zone.MappedZone;
import io.takofs.client.internal.zone.Place;
import io.takofs.layout.Layout;
import io.takofs.memory.Granules;
import io.takofs.memory.Stores;
import java.nio.ByteBuffer;
import java.util.function.Consumer;

/**
 * Stores into mapped memory: the caller writes directly into the server's memory. A store is placed
 * when it is done, and the commit's RPC orders it before the server's look.
 */
final class MappedSink implements ExtentSink {
  private final ZoneAccess access;
  private MappedZone zone;

  /** The extent's place that is present to be written, and its arena. */
  private Place prepared;

  private ByteBuffer arena;

  MappedSink(ZoneAccess access) {
    this.access = access;
  }

  @Override
  public void write(Place place, int offset, ByteBuffer source) throws TakoException {
    int at = place.offset() + offset;
    int length = source.remaining();
    store(place, to -> Stores.copy(to, at, source, source.position(), length));
    source.position(source.position() + length);
  }

  @Override
  public void writeGranules(Place place, int offset, ByteBuffer source, int count, int[] crcs)
      throws TakoException {
    int at = place.offset() + offset;
    store(place, to -> Granules.store(to, at, source, source.position(), count, crcs));
    source.position(source.position() + count * Layout.GRANULE_SIZE);
  }

  @Override
  public void writeChecksums(Place place, int granule, int[] crcs, int count) throws TakoException {
    int first = place.checksumsOffset() + granule * Integer.BYTES;
    store(
        place,
        to -> {
          for (int i = 0; i < count; i++) {
            to.putInt(first + i * Integer.BYTES, crcs[i]);
          }
        });
  }

  /** Stores, again and again until it was into the server's memory. */
  private void store(Place place, Consumer<ByteBuffer> store) throws TakoException {
    long deadlineNs = 0;
    for (boolean placed = false; !placed; ) {
      ByteBuffer to = arenaOf(place);
      if (to != null) {
        store.accept(to);
        placed = zone.isOpen();
      } else {
        deadlineNs = access.awaitArena(place.arena(), deadlineNs);
      }
    }
  }

  /** Asks once for each extent: an atomic operation would wait for the stores before it. */
  private ByteBuffer arenaOf(Place place) throws TakoException {
    if (zone == null || !zone.isOpen()) {
      zone = access.mapped();
      prepared = null;
    }
    if (!place.equals(prepared)) {
      arena = zone.writable(place);
      prepared = arena == null ? null : place;
    }
    return arena;
  }
}
