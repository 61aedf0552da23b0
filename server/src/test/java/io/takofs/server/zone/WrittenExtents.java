package io.takofs.server.zone;

import io.takofs.layout.Layout;
import io.takofs.memory.MappedMemory;
import io.takofs.proto.Extent;
import java.nio.ByteBuffer;
import java.util.zip.CRC32C;

/** Extents in an arena, as clients write them. */
public final class WrittenExtents {
  private WrittenExtents() {}

  /**
   * Writes bytes and their checksums to a slab, from {@code unit} on.
   *
   * @param slab index of the slab in the arena
   * @return the record of the extent, as small as it can be
   */
  public static Extent write(MappedMemory arena, int slab, int unit, byte[] bytes) {
    int offset = unit * Layout.UNIT_SIZE;
    long at = (long) slab * Layout.SLAB_SIZE + offset;
    arena.slice(at, bytes.length).put(0, bytes);
    int granules = bytes.length / Layout.GRANULE_SIZE;
    ByteBuffer entries =
        arena.slice(at / Layout.GRANULE_SIZE * Integer.BYTES, granules * Integer.BYTES);
    for (int i = 0; i < granules; i++) {
      entries.putInt(
          i * Integer.BYTES,
          crc(ByteBuffer.wrap(bytes, i * Layout.GRANULE_SIZE, Layout.GRANULE_SIZE)));
    }
    int full = granules * Layout.GRANULE_SIZE;
    int units = (bytes.length + Layout.UNIT_SIZE - 1) / Layout.UNIT_SIZE;
    return Extent.newBuilder()
        .setOffset(offset)
        .setCapacity(units * Layout.UNIT_SIZE)
        .setGeneration(unit + 1)
        .setLength(bytes.length)
        .setChecksumsCrc(crc(entries))
        .setTailCrc(
            bytes.length == full ? 0 : crc(ByteBuffer.wrap(bytes, full, bytes.length - full)))
        .build();
  }

  private static int crc(ByteBuffer bytes) {
    CRC32C crc = new CRC32C();
    crc.update(bytes.slice());
    return (int) crc.getValue();
  }

  /** The bytes of an extent, as a slab of an arena has them. */
  public static byte[] bytes(MappedMemory arena, int slab, Extent extent) {
    byte[] bytes = new byte[extent.getLength()];
    arena.slice((long) slab * Layout.SLAB_SIZE + extent.getOffset(), bytes.length).get(0, bytes);
    return bytes;
  }

  /** The checksum entries of an extent's full granules, as a slab of an arena has them. */
  public static byte[] entries(MappedMemory arena, int slab, Extent extent) {
    byte[] bytes = new byte[extent.getLength() / Layout.GRANULE_SIZE * Integer.BYTES];
    long at = (long) slab * Layout.SLAB_SIZE + extent.getOffset();
    arena.slice(at / Layout.GRANULE_SIZE * Integer.BYTES, bytes.length).get(0, bytes);
    return bytes;
  }
}
