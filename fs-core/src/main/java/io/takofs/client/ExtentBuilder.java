package io.takofs.client;

import io.takofs.base.TakoException;
import io.takofs.layout.Layout;
import io.takofs.memory.Granules;
import io.takofs.proto.Extent;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.zip.CRC32C;

/**
 * A granted extent that is being filled, and the checksums of what is in it.
 *
 * <p>Thread rule: one thread at a time.
 */
final class ExtentBuilder {
  /** Bytes that are copied before their checksum is computed, while they are in the cache. */
  private static final int STRIDE = Granules.BATCH * Layout.GRANULE_SIZE;

  private final Extent grant;
  private final long fileOffset;
  private final CRC32C partial = new CRC32C();
  private final CRC32C checksums = new CRC32C();
  private final ByteBuffer entry =
      ByteBuffer.allocate(Integer.BYTES).order(ByteOrder.LITTLE_ENDIAN);
  private final int[] crcs = new int[Granules.BATCH];
  private int length;

  /** An empty one whose first byte will be at {@code fileOffset}. */
  ExtentBuilder(Extent grant, long fileOffset) {
    this.grant = grant;
    this.fileOffset = fileOffset;
  }

  /**
   * One that goes on behind committed bytes.
   *
   * @param entries checksum entries of its full granules, little-endian
   * @param tail its last, partial granule
   */
  ExtentBuilder(Extent committed, ByteBuffer entries, ByteBuffer tail) {
    this(committed, committed.getFileOffset());
    checksums.update(entries);
    partial.update(tail);
    length = committed.getLength();
  }

  /** What was granted. */
  Extent grant() {
    return grant;
  }

  /** Bytes that still fit. */
  int room() {
    return grant.getCapacity() - length;
  }

  /** Appends {@code count} bytes of {@code source}, at most {@link #room}. */
  void append(ByteBuffer source, int count, ExtentSink sink) throws TakoException {
    int end = source.position() + count;
    while (source.position() < end) {
      int stride = Math.min(STRIDE, end - source.position());
      ByteBuffer copy = source.duplicate().limit(source.position() + stride);
      sink.write(grant, length, copy);
      checksum(source, source.position() + stride, sink);
    }
  }

  private void checksum(ByteBuffer source, int end, ExtentSink sink) throws TakoException {
    while (source.position() < end) {
      int fill = length % Layout.GRANULE_SIZE;
      int left = end - source.position();
      if (fill == 0 && left >= Layout.GRANULE_SIZE) {
        wholeGranules(source, left / Layout.GRANULE_SIZE, sink);
        continue;
      }
      int piece = Math.min(Layout.GRANULE_SIZE - fill, left);
      partial.update(source.slice(source.position(), piece));
      source.position(source.position() + piece);
      length += piece;
      if (fill + piece == Layout.GRANULE_SIZE) {
        finishGranule((int) partial.getValue(), sink);
        partial.reset();
      }
    }
  }

  private void wholeGranules(ByteBuffer source, int count, ExtentSink sink) throws TakoException {
    Granules.checksums(source, source.position(), count, crcs);
    for (int i = 0; i < count; i++) {
      length += Layout.GRANULE_SIZE;
      finishGranule(crcs[i], sink);
    }
    source.position(source.position() + count * Layout.GRANULE_SIZE);
  }

  private void finishGranule(int crc, ExtentSink sink) throws TakoException {
    checksums.update(entry.clear().putInt(crc).flip());
    sink.writeChecksum(grant, length / Layout.GRANULE_SIZE - 1, crc);
  }

  /** What a commit says of it now. */
  Extent build() {
    return grant.toBuilder()
        .clearRkey()
        .clearChecksumsRkey()
        .setFileOffset(fileOffset)
        .setLength(length)
        .setChecksumsCrc((int) checksums.getValue())
        .setTailCrc(length % Layout.GRANULE_SIZE == 0 ? 0 : (int) partial.getValue())
        .build();
  }
}
