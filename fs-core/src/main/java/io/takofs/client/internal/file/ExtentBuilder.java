package io.takofs.client.internal.file;

import io.takofs.base.TakoException;
import io.takofs.client.internal.zone.Place;
import io.takofs.layout.Layout;
import io.takofs.memory.Granules;
import io.takofs.memory.StableBytes;
import io.takofs.proto.Extent;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.List;
import java.util.zip.CRC32C;

/**
 * A granted extent that is being filled, and the checksums of what is in it.
 *
 * <p>Thread rule: one thread at a time.
 */
final class ExtentBuilder {
  private final Extent grant;
  private final List<Place> places;
  private final long fileOffset;
  private final CRC32C partial = new CRC32C();
  private final CRC32C checksums = new CRC32C();
  private final int[] crcs = new int[Granules.BATCH];
  private final ByteBuffer entries =
      ByteBuffer.allocate(crcs.length * Integer.BYTES).order(ByteOrder.LITTLE_ENDIAN);

  /** The checksums of its full granules. */
  private final int[] written;

  private int length;
  private int committed;

  /**
   * An empty one whose first byte will be at {@code fileOffset}.
   *
   * @param places of its replicas
   */
  ExtentBuilder(Extent grant, List<Place> places, long fileOffset) {
    this.grant = grant;
    this.places = places;
    this.fileOffset = fileOffset;
    this.written = new int[grant.getCapacity() / Layout.GRANULE_SIZE];
  }

  /**
   * An extent that continues after committed bytes.
   *
   * @param entries checksum entries of its full granules, little-endian
   * @param tail its last, partial granule
   */
  ExtentBuilder(Extent committed, List<Place> places, ByteBuffer entries, ByteBuffer tail) {
    this(committed, places, committed.getFileOffset());
    entries.asIntBuffer().get(written, 0, entries.remaining() / Integer.BYTES);
    checksums.update(entries);
    partial.update(tail);
    length = committed.getLength();
    this.committed = length;
  }

  /** The extent as the server granted it. */
  Extent grant() {
    return grant;
  }

  /** The places of its replicas. */
  List<Place> places() {
    return places;
  }

  /** Bytes in it, and of them those that are committed. */
  int length() {
    return length;
  }

  int committed() {
    return committed;
  }

  /** The position in the file after its bytes. */
  long end() {
    return fileOffset + length;
  }

  /** Whether a replica is on {@code server}. */
  boolean isOn(int server) {
    return places.stream().anyMatch(place -> place.server() == server);
  }

  /** Notes that all of its bytes are committed now. */
  void commit() {
    committed = length;
  }

  /** Bytes that still fit. */
  int room() {
    return grant.getCapacity() - length;
  }

  /** Appends {@code count} bytes of {@code source}, at most {@link #room}. */
  void append(ByteBuffer source, int count, ReplicatedSink sink) throws TakoException {
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

  private void appendGranules(ByteBuffer source, int count, ReplicatedSink sink)
      throws TakoException {
    sink.writeGranules(places, length, source, count, crcs);
    length += count * Layout.GRANULE_SIZE;
    finishGranules(count, sink);
  }

  private void appendPart(ByteBuffer source, int count, ReplicatedSink sink) throws TakoException {
    try (StableBytes stable = StableBytes.of(source, count)) {
      partial.update(stable.bytes());
      sink.write(places, length, stable.bytes());
    }
    source.position(source.position() + count);
    length += count;
    if (length % Layout.GRANULE_SIZE == 0) {
      crcs[0] = (int) partial.getValue();
      partial.reset();
      finishGranules(1, sink);
    }
  }

  /** The last {@code count} granules are full, and have the first of {@link #crcs}. */
  private void finishGranules(int count, ReplicatedSink sink) throws TakoException {
    entries.clear();
    for (int i = 0; i < count; i++) {
      entries.putInt(crcs[i]);
    }
    checksums.update(entries.flip());
    int first = length / Layout.GRANULE_SIZE - count;
    System.arraycopy(crcs, 0, written, first, count);
    sink.writeChecksums(places, first, crcs, count);
  }

  /** Checks the granules of {@code bytes}, which begin at {@code offset}, a granule's. */
  void verify(ByteBuffer bytes, int offset) throws StaleExtentException {
    int[] entries = Arrays.copyOf(written, length / Layout.GRANULE_SIZE);
    new ExtentView(build(), places).verify(entries, bytes, offset, offset + bytes.limit());
  }

  /** The extent as a commit would describe it now. */
  Extent build() {
    return grant.toBuilder()
        .clearRkey()
        .clearChecksumsRkey()
        .clearProofs()
        .setFileOffset(fileOffset)
        .setLength(length)
        .setChecksumsCrc((int) checksums.getValue())
        .setTailCrc(length % Layout.GRANULE_SIZE == 0 ? 0 : (int) partial.getValue())
        .build();
  }
}
