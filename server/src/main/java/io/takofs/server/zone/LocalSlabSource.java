package io.takofs.server.zone;

import io.takofs.base.TakoException;
import io.takofs.layout.Layout;
import io.takofs.memory.MappedMemory;
import io.takofs.memory.Stores;
import io.takofs.proto.Status;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;

/**
 * This server's own arenas. What is read is a copy, because what is verified must be what is
 * stored: the extent may be given to another writer meanwhile.
 *
 * <p>Thread rule: one thread.
 */
final class LocalSlabSource implements SlabSource {
  private final List<MappedMemory> arenas;
  private final ByteBuffer data =
      ByteBuffer.allocateDirect(Layout.EXTENT_SIZE_MAX).order(ByteOrder.LITTLE_ENDIAN);
  private final ByteBuffer checksums =
      ByteBuffer.allocateDirect(Layout.EXTENT_SIZE_MAX / Layout.GRANULE_SIZE * Integer.BYTES)
          .order(ByteOrder.LITTLE_ENDIAN);

  LocalSlabSource(List<MappedMemory> arenas) {
    this.arenas = arenas;
  }

  @Override
  public Bytes read(int arena, int offset, int length) throws TakoException {
    boolean isThere =
        arena >= 0
            && arena < arenas.size()
            && offset >= 0
            && length <= Layout.EXTENT_SIZE_MAX
            && (long) offset + length <= arenas.get(arena).length();
    if (!isThere) {
      throw new TakoException(
          Status.INVALID_ARGUMENT,
          "arena %d of this server has no %d bytes at %d".formatted(arena, length, offset));
    }
    StoredExtent extent = new StoredExtent(arenas.get(arena), offset, length);
    return new Bytes(copy(extent.data(), data), copy(extent.checksums(), checksums));
  }

  private static ByteBuffer copy(ByteBuffer from, ByteBuffer to) {
    ByteBuffer copy = to.slice(0, from.capacity()).order(ByteOrder.LITTLE_ENDIAN);
    Stores.copy(copy, 0, from, 0, from.capacity());
    return copy;
  }

  @Override
  public void close() {}
}
