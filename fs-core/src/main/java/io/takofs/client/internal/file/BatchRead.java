package io.takofs.client.internal.file;

import io.takofs.base.TakoException;
import io.takofs.client.internal.zone.Place;
import io.takofs.client.internal.zone.RemoteZone;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Reads pieces of a file with few doorbells: as many as there is memory for are posted together,
 * and while the oldest is verified the others are on their way.
 *
 * <p>Thread rule: one thread at a time.
 */
final class BatchRead {
  /** Bytes of staging memory that one batch has under way at most. */
  private static final int MEMORY_MAX = 16 << 20;

  /** The part of a range, by its index, within an extent; {@code target} is as long as it is. */
  record Piece(int range, ExtentView extent, long position, ByteBuffer target) {
    FetchedGranules fetched(Place place) {
      int offset = (int) (position - extent.start());
      return new FetchedGranules(extent, place, offset, target.remaining());
    }
  }

  /** A piece on its way, and when it must be here. */
  private record Posted(Piece piece, FetchedGranules granules, long deadlineNs) {}

  private final FileAccess access;
  private final ArrayDeque<Posted> underWay = new ArrayDeque<>();
  private int memory;

  BatchRead(FileAccess access) {
    this.access = access;
  }

  /**
   * Reads what it can. The target of a piece that could not be read or verified this way keeps its
   * space: it has to be read by itself, which finds out what is wrong.
   */
  void read(List<Piece> pieces) throws TakoException {
    long deadlineNs = access.deadline();
    try {
      int next = 0;
      while (next < pieces.size() || !underWay.isEmpty()) {
        next = post(pieces, next, deadlineNs);
        takeOldest();
      }
    } finally {
      underWay.forEach(posted -> posted.granules.release());
      underWay.clear();
    }
  }

  /**
   * Begins those from {@code next} on that there is memory for; returns the first that waits. One
   * that there is none for at all is left to be read by itself.
   */
  private int post(List<Piece> pieces, int next, long deadlineNs) throws TakoException {
    Map<RemoteZone, List<Posted>> together = new LinkedHashMap<>(2);
    int end = next;
    while (end < pieces.size()) {
      ExtentView extent = pieces.get(end).extent;
      Place place = ReplicaOrder.first(access, extent);
      if (!(access.reached(extent, place) instanceof RemoteZone zone)) {
        end++;
        continue; // it is read where it is, or from another replica
      }
      FetchedGranules granules = pieces.get(end).fetched(place);
      boolean prepared = hasRoomFor(granules) && granules.tryPrepare(zone);
      if (!prepared && !underWay.isEmpty()) {
        break;
      }
      if (prepared) {
        long untilNs = access.deadline(granules);
        long dueNs = untilNs - deadlineNs < 0 ? untilNs : deadlineNs;
        Posted posted = new Posted(pieces.get(end), granules, dueNs);
        underWay.add(posted);
        memory += granules.memory();
        together.computeIfAbsent(zone, first -> new ArrayList<>()).add(posted);
      }
      end++;
    }
    for (Map.Entry<RemoteZone, List<Posted>> each : together.entrySet()) {
      post(each.getKey(), each.getValue());
    }
    return end;
  }

  /** Those that cannot be posted in time, and that other servers have, count as not come. */
  private void post(RemoteZone zone, List<Posted> together) throws TakoException {
    try {
      long deadlineNs = together.stream().mapToLong(Posted::deadlineNs).max().orElseThrow();
      zone.read(deadlineNs, together.stream().map(Posted::granules).toList());
    } catch (TakoException e) {
      for (Posted each : together) {
        if (!access.isElsewhere(each.granules, e)) {
          throw e;
        }
      }
    }
  }

  private boolean hasRoomFor(FetchedGranules granules) {
    return underWay.isEmpty()
        || (memory + granules.memory() <= MEMORY_MAX && underWay.size() < RemoteZone.TRANSFERS_MAX);
  }

  private void takeOldest() throws TakoException {
    if (underWay.isEmpty()) {
      return;
    }
    Posted oldest = underWay.element();
    try {
      if (!access.isLate(oldest.granules, oldest.deadlineNs)
          && access.isHere(oldest.granules, oldest.deadlineNs)) {
        oldest.granules.verify();
        ByteBuffer target = oldest.piece.target;
        oldest.granules.copyFrom(oldest.piece.position, target.remaining(), target);
      }
    } catch (StaleExtentException e) {
      // The same as bytes that did not come.
    }
    underWay.remove();
    memory -= oldest.granules.memory();
    oldest.granules.release();
  }
}
