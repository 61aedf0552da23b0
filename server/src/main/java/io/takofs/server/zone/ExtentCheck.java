package io.takofs.server.zone;

import io.takofs.layout.Layout;
import io.takofs.memory.Granules;
import io.takofs.proto.Extent;
import java.nio.ByteBuffer;
import java.util.zip.CRC32C;

/**
 * Compares bytes with their record: its checksum entries by their CRC, each full granule by its
 * entry, the last, partial one by its own.
 *
 * <p>Thread rule: one thread.
 */
final class ExtentCheck {
  private final int[] crcs = new int[Granules.BATCH];

  /**
   * The difference from the record, for people; null when there is none.
   *
   * @param data the extent's bytes, as many as the record has
   * @param checksums its entries, little-endian
   */
  String problem(Extent extent, ByteBuffer data, ByteBuffer checksums) {
    if (crc(checksums, 0, checksums.capacity()) != extent.getChecksumsCrc()) {
      return "the checksum entries are not those that were committed";
    }
    int granules = extent.getLength() / Layout.GRANULE_SIZE;
    for (int first = 0; first < granules; first += Granules.BATCH) {
      int count = Math.min(Granules.BATCH, granules - first);
      Granules.checksums(data, first * Layout.GRANULE_SIZE, count, crcs);
      for (int i = 0; i < count; i++) {
        if (crcs[i] != checksums.getInt((first + i) * Integer.BYTES)) {
          return "granule " + (first + i) + " fails its checksum";
        }
      }
    }
    int full = granules * Layout.GRANULE_SIZE;
    int tail = extent.getLength() - full;
    if (tail > 0 && crc(data, full, tail) != extent.getTailCrc()) {
      return "the last " + tail + " bytes fail their checksum";
    }
    return null;
  }

  private static int crc(ByteBuffer bytes, int at, int length) {
    CRC32C crc = new CRC32C();
    crc.update(bytes.slice(at, length));
    return (int) crc.getValue();
  }
}
