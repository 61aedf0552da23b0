package io.takofs.client;

import io.takofs.base.TakoException;
import io.takofs.layout.Layout;
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
  public void read(ExtentView extent, int offset, int count, ByteBuffer target)
      throws TakoException, StaleExtentException {
    long deadlineNs = 0;
    while (true) {
      MappedZone attached = attach();
      ByteBuffer arena = attached.arena(extent.extent().getArena());
      if (arena == null) {
        deadlineNs = access.awaitArena(extent.extent().getArena(), deadlineNs);
        continue;
      }
      try {
        read(arena, extent, offset, count, target);
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
      ByteBuffer arena, ExtentView extent, int offset, int count, ByteBuffer target)
      throws StaleExtentException {
    int[] checksums = extent.checksums();
    if (checksums == null) {
      byte[] entries = new byte[extent.checksumsSize()];
      arena.get(extent.checksumsOffset(), entries);
      checksums = extent.checksumsIn(entries);
    }
    copy(arena, extent, checksums, offset, count, target);
    target.position(target.position() + count);
  }

  private static void copy(
      ByteBuffer arena,
      ExtentView extent,
      int[] checksums,
      int offset,
      int count,
      ByteBuffer target)
      throws StaleExtentException {
    CRC32C crc = new CRC32C();
    ByteBuffer copied = target.duplicate();
    int end = offset + count;
    int at = target.position();
    for (int from = offset; from < end; ) {
      int granule = from / Layout.GRANULE_SIZE;
      int start = granule * Layout.GRANULE_SIZE;
      int length = extent.granuleLength(granule);
      int piece = Math.min(end, start + length) - from;
      crc.reset();
      if (piece == length) {
        target.put(at, arena, extent.arenaOffset() + start, length);
        crc.update(copied.limit(at + length).position(at));
        extent.verify(checksums, granule, crc);
      } else {
        byte[] scratch = SCRATCH.get();
        arena.get(extent.arenaOffset() + start, scratch, 0, length);
        crc.update(scratch, 0, length);
        extent.verify(checksums, granule, crc);
        target.put(at, scratch, from - start, piece);
      }
      from += piece;
      at += piece;
    }
  }
}
