package io.takofs.client.internal.file;

import io.takofs.base.SharedCleaner;
import io.takofs.base.TakoException;
import io.takofs.client.internal.zone.Place;
import io.takofs.client.internal.zone.PoolFile;
import io.takofs.layout.Layout;
import io.takofs.memory.MappedMemory;
import java.io.IOException;
import java.lang.ref.Cleaner;
import java.nio.ByteBuffer;

/**
 * An extent that the server gives to nobody: until all who use it have released it, or until
 * neither this nor any of its bytes can be reached.
 *
 * <p>Thread rule: any thread.
 */
final class HeldExtent {
  private final PoolFile file;
  private final ExtentView extent;
  private final Place place;
  private final MappedMemory arena;
  private final ByteBuffer bytes;
  private final Cleaner.Cleanable hold;
  private int uses = 1;

  /**
   * For one user, who has {@link PoolFile#hold held} it.
   *
   * @throws IOException when it cannot be looked at; it is not released then
   */
  HeldExtent(PoolFile file, ExtentView extent, Place place) throws IOException {
    this.file = file;
    this.extent = extent;
    this.place = place;
    arena = file.arena(place.arena());
    ByteBuffer all = arena.view(place.offset(), extent.length());
    bytes = all.asReadOnlyBuffer();
    // On the buffer that all others are made of: they keep it, and it keeps none of them.
    hold = SharedCleaner.register(all, () -> file.release(place));
  }

  /** Position in the file of the first byte. */
  long start() {
    return extent.start();
  }

  /** Position in the file after the last byte. */
  long end() {
    return extent.end();
  }

  /** Whether its server is still reached, with the same memory. */
  boolean isPresent(FileReader reader) throws TakoException {
    return reader.poolFile(extent, place) == file;
  }

  /** Checks {@code count} bytes from {@code offset} within the extent. */
  void verify(int offset, int count) throws StaleExtentException {
    int[] checksums = extent.checksums();
    if (checksums == null) {
      byte[] entries = new byte[extent.checksumsSize()];
      arena.slice(place.checksumsOffset(), entries.length).get(entries);
      checksums = extent.checksumsIn(entries);
    }
    int start = offset - offset % Layout.GRANULE_SIZE;
    ByteBuffer granules = bytes.slice(start, extent.length() - start);
    extent.verify(checksums, granules, offset, offset + count);
  }

  /** Bytes for one more user, read-only. */
  synchronized ByteBuffer lend(int offset, int count) {
    uses++;
    return bytes.slice(offset, count);
  }

  /** A user is done; the last one lets the extent go. */
  synchronized void release() {
    uses--;
    if (uses == 0) {
      hold.clean();
    }
  }
}
