package io.takofs.client.internal.file;

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
  private final Extent grant;
  private final long fileOffset;
  private final CRC32C partial = new CRC32C();
  private final CRC32C checksums = new CRC32C();
  private final int[] crcs = new int[Granules.BATCH];
  private final ByteBuffer entries =
      ByteBuffer.allocate(crcs.length * Integer.BYTES).order(ByteOrder.LITTLE_ENDIAN);
  private int length;

  /** An empty one whose first byte will be at {@code fileOffset}. */
  ExtentBuilder(Extent grant, long fileOffset) {
    this.grant = grant;
    this.fileOffset = fileOffset;
  }

  /**
   * An extent that continues after committed bytes.
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

  /** The extent as the server granted it. */
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
      int left = end - source.position();
      int fill = length % Layout.GRANULE_SIZE;
      if (fill == 0 && left >= Layout.GRANULE_SIZE) {
        appendGranules(source, Math.min(left / Layout.GRANULE_SIZE, Granules.BATCH), sink);
      } else {
        appendPart(source, Math.min(Layout.GRANULE_SIZE - fill, left), sink);
      }
    }
  }

  private void appendGranules(ByteBuffer source, int count, ExtentSink sink) throws TakoException {
    sink.writeGranules(grant, length, source, count, crcs);
    length += count * Layout.GRANULE_SIZE;
    finishGranules(count, sink);
  }

  private void appendPart(ByteBuffer source, int count, ExtentSink sink) throws TakoException {
    int end = source.position() + count;
    partial.update(source.slice(source.position(), count));
    sink.write(grant, length, source.duplicate().limit(end));
    source.position(end);
    length += count;
    if (length % Layout.GRANULE_SIZE == 0) {
      crcs[0] = (int) partial.getValue();
      partial.reset();
      finishGranules(1, sink);
    }
  }

  /** The last {@code count} granules are full, and have the first of {@link #crcs}. */
  private void finishGranules(int count, ExtentSink sink) throws TakoException {
    entries.clear();
    for (int i = 0; i < count; i++) {
      entries.putInt(crcs[i]);
    }
    checksums.update(entries.flip());
    sink.writeChecksums(grant, length / Layout.GRANULE_SIZE - count, crcs, count);
  }

  /** The extent as a commit would describe it now. */
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
