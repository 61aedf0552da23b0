package io.takofs.client.internal.file;

import io.takofs.base.TakoException;
import io.takofs.client.internal.zone.Place;
import io.takofs.client.internal.zone.RemoteZone;
import io.takofs.client.internal.zone.Staging;
import io.takofs.client.internal.zone.Transfer;
import io.takofs.layout.Layout;
import io.takofs.transport.MemoryRegion;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/**
 * Whole granules of one extent in registered memory, and its checksum entries when they are not
 * known yet, on their way or arrived.
 *
 * <p>Thread rule: one thread at a time.
 */
final class FetchedGranules implements RemoteZone.Reading {
  /** Room for the checksum entries of the largest extent. */
  private static final int ENTRIES_SIZE =
      Layout.EXTENT_SIZE_MAX / Layout.GRANULE_SIZE * Integer.BYTES;

  /** Buffers come in two sizes, so that they can be used again. */
  private static final int SMALL = Layout.UNIT_SIZE;

  private final ExtentView extent;
  private final Place place;
  private final int offset;
  private final int count;
  private final int start;
  private final int end;
  private final int entriesAt;
  private Staging home; // of the zone that was asked last; null before
  private MemoryRegion region;
  private int[] checksums;
  private boolean wantsEntries;
  private boolean verified;
  private Transfer transfer;

  /**
   * The granules that hold {@code count} bytes from {@code offset} within the extent.
   *
   * @param place of the replica that is read
   */
  FetchedGranules(ExtentView extent, Place place, int offset, int count) {
    this.extent = extent;
    this.place = place;
    this.offset = offset;
    this.count = count;
    this.start = offset - offset % Layout.GRANULE_SIZE;
    int granules = (offset + count + Layout.GRANULE_SIZE - 1) / Layout.GRANULE_SIZE;
    this.end = Math.min(granules * Layout.GRANULE_SIZE, extent.length());
    this.entriesAt = end - start <= SMALL ? SMALL : Layout.EXTENT_SIZE_MAX;
  }

  /** Position in the file after the last byte. */
  long fileEnd() {
    return extent.start() + end;
  }

  /**
   * Those of {@code all} with memory for them; only the first of them when memory is short.
   *
   * @throws TakoException NO_SPACE when there was none until the deadline
   */
  static FetchedGranules prepared(RemoteZone zone, FetchedGranules all, long deadlineNs)
      throws TakoException {
    if (all.tryPrepare(zone)) {
      return all;
    }
    int few = Math.min(all.count, SMALL - all.offset % Layout.GRANULE_SIZE);
    FetchedGranules first = new FetchedGranules(all.extent, all.place, all.offset, few);
    first.prepare(zone, zone.takeNeeded(first.memory(), deadlineNs));
    return first;
  }

  /** Of {@code count} bytes from {@code offset} within the extent, those that are here. */
  int countFrom(int offset, int count) {
    return Math.min(count, end - offset);
  }

  /** Begins the transfer, or begins it again, perhaps over another transport. */
  void post(RemoteZone zone, long deadlineNs) throws TakoException {
    if (zone.staging() != home) {
      MemoryRegion moved = zone.staging().exchange(memory());
      release();
      prepare(zone, moved);
    }
    // Another thread may have fetched the checksums meanwhile.
    checksums = extent.checksums();
    wantsEntries = checksums == null;
    if (wantsEntries || end > start) {
      zone.read(deadlineNs, List.of(this));
    }
  }

  /** Takes memory that {@code zone} can transfer to; false when there is too little. */
  boolean tryPrepare(RemoteZone zone) throws TakoException {
    MemoryRegion taken = zone.staging().tryTake(memory());
    if (taken != null) {
      prepare(zone, taken);
    }
    return taken != null;
  }

  private void prepare(RemoteZone zone, MemoryRegion taken) {
    home = zone.staging();
    region = taken;
    checksums = extent.checksums();
    wantsEntries = checksums == null;
  }

  @Override
  public RemoteZone.Piece[] pieces() {
    List<RemoteZone.Piece> pieces = new ArrayList<>(2);
    if (wantsEntries) {
      pieces.add(
          new RemoteZone.Piece(
              region,
              entriesAt,
              extent.checksumsSize(),
              place.arena(),
              place.checksumsOffset(),
              0));
    }
    if (end > start) {
      pieces.add(
          new RemoteZone.Piece(region, 0, end - start, place.arena(), place.offset() + start, 0));
    }
    return pieces.toArray(new RemoteZone.Piece[0]);
  }

  @Override
  public void posted(Transfer underWay) {
    transfer = underWay;
  }

  /** Bytes of memory that it takes. */
  int memory() {
    return entriesAt + ENTRIES_SIZE;
  }

  /** Why it did not arrive. */
  String failure() {
    return transfer == null ? "nothing was asked for" : transfer.failure();
  }

  /** Waits as long as reads usually take; whether this one takes much longer. */
  boolean isLate(long leastNs) {
    return transfer != null && !transfer.endsInUsualTime(leastNs);
  }

  /** Waits for a moment; whether it is over, be it that the connection ended. */
  boolean endsSoon() {
    return transfer == null || transfer.endsSoon();
  }

  /** The place that is read. */
  Place place() {
    return place;
  }

  /** The extent that has the bytes. */
  ExtentView extent() {
    return extent;
  }

  /** All places that have the same bytes. */
  List<Place> places() {
    return extent.places();
  }

  /** Waits; false when the connection ended before the bytes were here. */
  boolean await(long deadlineNs) throws TakoException {
    return transfer == null || transfer.await(deadlineNs);
  }

  /** Checks what arrived against what was committed; once. */
  void verify() throws StaleExtentException {
    if (verified) {
      return;
    }
    ByteBuffer memory = region.buffer();
    if (wantsEntries) {
      byte[] entries = new byte[extent.checksumsSize()];
      memory.get(entriesAt, entries);
      checksums = extent.checksumsIn(entries);
    }
    extent.verify(checksums, memory.clear(), start, end);
    verified = true;
  }

  /** Copies verified bytes from {@code offset} within the extent. */
  void copy(int offset, int count, ByteBuffer target) {
    target.put(target.position(), region.buffer(), offset - start, count);
    target.position(target.position() + count);
  }

  /** Copies verified bytes from {@code position} in the file. */
  void copyFrom(long position, int count, ByteBuffer target) {
    copy((int) (position - extent.start()), count, target);
  }

  /** Gives the memory back, once the transfer is over. */
  void release() {
    if (region != null) {
      RemoteZone.releaseAfter(transfer, home, region);
      home = null;
      region = null;
      transfer = null;
    }
  }
}
