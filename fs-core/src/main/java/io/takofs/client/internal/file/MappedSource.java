package io.takofs.client.internal.file;

import io.takofs.base.TakoException;
import io.takofs.client.internal.zone.MappedZone;
import io.takofs.client.internal.zone.Place;
import io.takofs.layout.Layout;
import io.takofs.memory.Granules;
import java.nio.ByteBuffer;
import java.util.zip.CRC32C;

/**
 * Loads from mapped memory. Bytes are copied first and the copy is verified: mapped memory may
 * change at any time.
 */
final class MappedSource implements ExtentSource {
  private static final ThreadLocal<byte[]> SCRATCH =
      ThreadLocal.withInitial(() -> new byte[Layout.GRANULE_SIZE]);

  private final ZoneAccess access;
  private volatile MappedZone zone;

  MappedSource(ZoneAccess access) {
    this.access = access;
  }

  @Override
  public void read(ExtentView extent, Place place, int offset, int count, ByteBuffer target)
      throws TakoException, StaleExtentException {
    int index = place.arena();
    long deadlineNs = 0;
    while (true) {
      MappedZone attached = attach();
      ByteBuffer arena = attached.arena(index);
      if (arena == null) {
        deadlineNs = access.awaitArena(index, deadlineNs);
        continue;
      }
      try {
        read(arena, extent, place, offset, count, target);
        return;
      } catch (StaleExtentException e) {
        if (attached.isOpen()) {
          throw e;
        }
        // The mapping was taken away meanwhile: these were not the server's bytes.
      }
    }
  }

  private MappedZone attach() throws TakoException {
    MappedZone attached = zone;
    if (attached == null || !attached.isOpen()) {
      attached = access.mapped();
      zone = attached;
    }
    return attached;
  }

  private static void read(
      ByteBuffer arena, ExtentView extent, Place place, int offset, int count, ByteBuffer target)
      throws StaleExtentException {
    int[] checksums = extent.checksums();
    if (checksums == null) {
      byte[] entries = new byte[extent.checksumsSize()];
      arena.get(place.checksumsOffset(), entries);
      checksums = extent.checksumsIn(entries);
    }
    copy(arena, extent, place, checksums, offset, count, target);
    target.position(target.position() + count);
  }

  private static void copy(
      ByteBuffer arena,
      ExtentView extent,
      Place place,
      int[] checksums,
      int offset,
      int count,
      ByteBuffer target)
      throws StaleExtentException {
    int[] crcs = new int[Granules.BATCH];
    int end = offset + count;
    int at = target.position();
    for (int from = offset; from < end; ) {
      int granule = from / Layout.GRANULE_SIZE;
      int start = granule * Layout.GRANULE_SIZE;
      int piece;
      int whole = Math.min(extent.wholeGranules(granule), (end - start) / Layout.GRANULE_SIZE);
      if (from == start && whole > 0) {
        int batch = Math.min(whole, crcs.length);
        Granules.copy(target, at, arena, place.offset() + start, batch, crcs);
        for (int i = 0; i < batch; i++) {
          extent.verify(checksums, granule + i, crcs[i]);
        }
        piece = batch * Layout.GRANULE_SIZE;
      } else {
        int length = extent.granuleLength(granule);
        piece = Math.min(end, start + length) - from;
        byte[] scratch = SCRATCH.get();
        arena.get(place.offset() + start, scratch, 0, length);
        CRC32C crc = new CRC32C();
        crc.update(scratch, 0, length);
        extent.verify(checksums, granule, (int) crc.getValue());
        target.put(at, scratch, from - start, piece);
      }
      from += piece;
      at += piece;
    }
  }
}
