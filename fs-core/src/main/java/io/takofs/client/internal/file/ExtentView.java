package io.takofs.client.internal.file;

import io.takofs.client.internal.zone.Place;
import io.takofs.layout.Layout;
import io.takofs.memory.Granules;
import io.takofs.proto.Extent;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.zip.CRC32C;

/**
 * A committed extent as a reader knows it, with the checksums of its granules once they were read.
 *
 * <p>Thread rule: any thread.
 */
final class ExtentView {
  private static final int[] NONE = {};

  private final Extent extent;
  private final List<Place> places;
  private final boolean keepsChecksums;
  private final boolean verifies;

  /** Checksums of the full granules, verified; null while they must be read. */
  private volatile int[] checksums;

  private volatile Place mappedPlace;

  /** One that remembers its checksums. */
  ExtentView(Extent extent, List<Place> places) {
    this(extent, places, true);
  }

  /**
   * A view.
   *
   * @param places of its replicas
   * @param keepsChecksums whether to remember them once they were read: up to 1 KiB
   */
  ExtentView(Extent extent, List<Place> places, boolean keepsChecksums) {
    this(extent, places, keepsChecksums, true);
    if (fullGranules() == 0) {
      checksums = NONE;
    }
  }

  private ExtentView(Extent extent, List<Place> places, boolean keepsChecksums, boolean verifies) {
    this.extent = extent;
    this.places = places;
    this.keepsChecksums = keepsChecksums;
    this.verifies = verifies;
  }

  /** One whose checksums the caller knows: it verifies what it read. */
  static ExtentView unverified(Extent extent, List<Place> places) {
    ExtentView view = new ExtentView(extent, places, true, false);
    view.checksums = NONE;
    return view;
  }

  Extent extent() {
    return extent;
  }

  /** Position in the file of its first byte. */
  long start() {
    return extent.getFileOffset();
  }

  /** Position in the file after its last byte. */
  long end() {
    return extent.getFileOffset() + extent.getLength();
  }

  int length() {
    return extent.getLength();
  }

  private int fullGranules() {
    return extent.getLength() / Layout.GRANULE_SIZE;
  }

  /** The places of its replicas. */
  List<Place> places() {
    return places;
  }

  /** The place of the replica on {@code server}; null when that has none. */
  Place placeOn(int server) {
    for (Place place : places) {
      if (place.server() == server) {
        return place;
      }
    }
    return null;
  }

  /** The nearest of its places, when that was loaded from last; null when none was. */
  Place mappedPlace() {
    return mappedPlace;
  }

  /** Its nearest place is mapped here; null when it is not any more. */
  void isMappedAt(Place place) {
    mappedPlace = place;
  }

  /** Bytes of its checksum entries. */
  int checksumsSize() {
    return fullGranules() * Integer.BYTES;
  }

  /** Checksums of the full granules; null when they must be read. */
  int[] checksums() {
    return checksums;
  }

  /** The checksums in entries that were read, if they are the ones that were committed. */
  int[] checksumsIn(byte[] entries) throws StaleExtentException {
    CRC32C crc = new CRC32C();
    crc.update(entries, 0, entries.length);
    if ((int) crc.getValue() != extent.getChecksumsCrc()) {
      throw new StaleExtentException(this, "checksum entries do not match their record");
    }
    int[] values = new int[entries.length / Integer.BYTES];
    ByteBuffer.wrap(entries).order(ByteOrder.LITTLE_ENDIAN).asIntBuffer().get(values);
    if (keepsChecksums) {
      checksums = values;
    }
    return values;
  }

  /** The checksum entries as they stand in the arena; they were read, and kept. */
  ByteBuffer checksumEntries() {
    int[] values = checksums;
    ByteBuffer entries =
        ByteBuffer.allocate(values.length * Integer.BYTES).order(ByteOrder.LITTLE_ENDIAN);
    entries.asIntBuffer().put(values);
    return entries;
  }

  /** Bytes of granule {@code index}; the last may be partial. */
  int granuleLength(int index) {
    return Math.min(Layout.GRANULE_SIZE, extent.getLength() - index * Layout.GRANULE_SIZE);
  }

  /** Whole granules from {@code index} on. */
  int wholeGranules(int index) {
    return extent.getLength() / Layout.GRANULE_SIZE - index;
  }

  /** Checks the CRC of bytes that were read of granule {@code index} against {@code entries}. */
  void verify(int[] entries, int index, int crc) throws StaleExtentException {
    if (!verifies) {
      return;
    }
    int expected = index < entries.length ? entries[index] : extent.getTailCrc();
    if (crc != expected) {
      throw new StaleExtentException(
          this,
          "granule "
              + index
              + " has CRC32C "
              + Integer.toHexString(crc)
              + ", committed was "
              + Integer.toHexString(expected));
    }
  }

  /**
   * Checks the granules that hold the bytes from {@code from} to {@code end} within the extent.
   *
   * @param bytes of the extent from the granule on that holds {@code from}
   */
  void verify(int[] entries, ByteBuffer bytes, int from, int end) throws StaleExtentException {
    int[] crcs = new int[Granules.BATCH];
    int first = from / Layout.GRANULE_SIZE;
    int last = (end - 1) / Layout.GRANULE_SIZE;
    int granule = first;
    while (granule <= last) {
      int at = (granule - first) * Layout.GRANULE_SIZE;
      int count = Math.min(crcs.length, Math.min(wholeGranules(granule), last + 1 - granule));
      if (count > 0) {
        Granules.checksums(bytes, at, count, crcs);
      } else {
        count = 1;
        CRC32C crc = new CRC32C();
        crc.update(bytes.slice(at, granuleLength(granule)));
        crcs[0] = (int) crc.getValue();
      }
      for (int i = 0; i < count; i++) {
        verify(entries, granule + i, crcs[i]);
      }
      granule += count;
    }
  }

  @Override
  public String toString() {
    return String.format(
        "extent at file offset %d, slab %d offset %d, length %d, generation %08x",
        start(), extent.getSlab(), extent.getOffset(), extent.getLength(), extent.getGeneration());
  }
}
