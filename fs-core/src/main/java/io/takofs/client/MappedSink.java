package io.takofs.client;

import io.takofs.base.TakoException;
import io.takofs.layout.Layout;
import io.takofs.proto.Extent;
import java.nio.ByteBuffer;

/** Stores into mapped memory: one copy, straight from the caller's bytes. */
final class MappedSink implements ExtentSink {
  private final ZoneAccess access;

  MappedSink(ZoneAccess access) {
    this.access = access;
  }

  @Override
  public void write(Extent extent, int offset, ByteBuffer source) throws TakoException {
    MappedZone zone = access.enter();
    try {
      int length = source.remaining();
      zone.arena(extent.getArena())
          .put(extent.getOffset() + offset, source, source.position(), length);
      source.position(source.position() + length);
    } finally {
      zone.exit();
    }
  }

  @Override
  public void writeChecksum(Extent extent, int granule, int crc32c) throws TakoException {
    MappedZone zone = access.enter();
    try {
      zone.arena(extent.getArena())
          .putInt((extent.getOffset() / Layout.GRANULE_SIZE + granule) * Integer.BYTES, crc32c);
    } finally {
      zone.exit();
    }
  }

  @Override
  public void flush() {
    // A store is placed when it is done, and the commit's RPC orders it before the server's look.
  }

  @Override
  public boolean allCompleted() {
    return true;
  }

  @Override
  public void close() {}
}
