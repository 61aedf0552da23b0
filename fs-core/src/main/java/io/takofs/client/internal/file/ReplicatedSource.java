package io.takofs.client.internal.file;

import io.takofs.base.TakoException;
import io.takofs.client.internal.session.ServerLink;
import io.takofs.client.internal.zone.Place;
import io.takofs.proto.Status;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Reads verified bytes of extents, from the nearest replica that gives them.
 *
 * <p>Thread rule: any thread.
 */
final class ReplicatedSource {
  /** The way to read from one server, over one connection or whatever there is. */
  private record Way(ZoneAccess zone, ExtentSource source) {}

  private final FileAccess access;
  private final Map<Integer, Way> lone = new ConcurrentHashMap<>();
  private final Map<Integer, Way> brief = new ConcurrentHashMap<>();
  private volatile Way lastLone; // so that a short read looks into no map

  ReplicatedSource(FileAccess access) {
    this.access = access;
  }

  /** As {@link #read(ExtentView, int, int, ByteBuffer, Set)}, from any replica. */
  int read(ExtentView extent, int offset, int count, ByteBuffer target)
      throws TakoException, StaleExtentException {
    return read(extent, offset, count, target, Set.of());
  }

  /**
   * Reads {@code count} bytes at {@code offset} within the extent into {@code target}, or fewer
   * when memory is short, but no less than the rest of a granule. The target's position moves after
   * them only when all are verified.
   *
   * @param wrong servers that have wrong bytes; they are asked when there are no others only
   * @return the server that gave them
   * @throws StaleExtentException when they are not what was committed
   */
  int read(ExtentView extent, int offset, int count, ByteBuffer target, Set<Integer> wrong)
      throws TakoException, StaleExtentException {
    List<Place> places = extent.places();
    if (places.size() == 1) {
      Place place = places.get(0);
      try {
        lone(place).source.read(extent, place, offset, count, target);
        return place.server();
      } catch (StaleExtentException e) {
        throw e.of(place.server());
      }
    }
    Place mapped = wrong.isEmpty() ? load(extent, offset, count, target) : null;
    if (mapped != null) {
      return mapped.server();
    }
    long deadlineNs = access.deadline();
    Map<ServerLink, String> failed = new LinkedHashMap<>(); // told in the order in which they did
    while (true) {
      try {
        Place giver = readFromOne(extent, offset, count, target, wrong, deadlineNs, failed);
        if (giver != null) {
          return giver.server();
        }
      } finally {
        // The leader may be away, so it is told after all were asked, or the bytes are there.
        failed.forEach((server, why) -> access.report(extent.extent(), server, false, why));
        failed.clear();
      }
      access.pause(deadlineNs);
    }
  }

  /**
   * Reads once more from a replica that was mapped and nearest before: a load costs less than to
   * find out which one is. Null when that did not succeed, and another one may.
   */
  private Place load(ExtentView extent, int offset, int count, ByteBuffer target)
      throws StaleExtentException {
    Place place = extent.mappedPlace();
    Way way = place == null ? null : brief.get(place.server());
    if (way == null || !(way.source instanceof MappedSource)) {
      return null;
    }
    try {
      way.source.read(extent, place, offset, count, target);
      return place;
    } catch (TakoException e) {
      extent.isMappedAt(null);
      return null;
    } catch (StaleExtentException e) {
      throw e.of(place.server());
    }
  }

  /**
   * As {@link #read(ExtentView, int, int, ByteBuffer)}, for a caller to whom the record is no old
   * one: bytes that are wrong on one server are read from another.
   *
   * @return the servers with wrong bytes
   * @throws StaleExtentException when no server has the bytes
   */
  Set<Integer> readFromAny(ExtentView extent, int offset, int count, ByteBuffer target)
      throws TakoException, StaleExtentException {
    Set<Integer> wrong = new HashSet<>();
    while (true) {
      try {
        read(extent, offset, count, target, wrong);
        return wrong;
      } catch (StaleExtentException e) {
        boolean isNews = wrong.add(e.server());
        if (!isNews || wrong.size() == extent.places().size()) {
          throw e;
        }
      }
    }
  }

  /** The way to the only replica of an extent. Most files have one server's extents in a row. */
  private Way lone(Place place) throws TakoException {
    Way way = lastLone;
    if (way == null || way.zone.server().id() != place.server()) {
      way = way(lone, access.only(place));
      lastLone = way;
    }
    return way;
  }

  /**
   * Asks one replica after the other, those with wrong bytes last; null when none gave the bytes,
   * some did not answer, and there is time left. Adds those that failed, and why, to {@code
   * failed}.
   */
  private Place readFromOne(
      ExtentView extent,
      int offset,
      int count,
      ByteBuffer target,
      Set<Integer> wrong,
      long deadlineNs,
      Map<ServerLink, String> failed)
      throws TakoException, StaleExtentException {
    List<Place> order = new ArrayList<>(ReplicaOrder.of(access, extent));
    order.sort(Comparator.comparing(place -> wrong.contains(place.server())));
    Place again = null;
    TakoException last = null;
    StaleExtentException stale = null;
    for (int i = 0; i < order.size(); i++) {
      Place place = order.get(i);
      ZoneAccess zone = access.oneOf(place);
      try {
        if (i + 1 < order.size() && zone.transfers() && access.session().hedgedReads().begin()) {
          List<Place> others = order.subList(i + 1, order.size());
          return new HedgedRead(access, extent, offset, count).read(zone, place, others, target);
        }
        ExtentSource source = way(brief, zone).source;
        source.read(extent, place, offset, count, target);
        if (i == 0 && wrong.isEmpty() && source instanceof MappedSource) {
          extent.isMappedAt(place);
        }
        return place;
      } catch (StaleExtentException e) {
        if (!wrong.contains(place.server())) {
          throw e.of(place.server());
        }
        stale = e.of(place.server());
      } catch (TakoException e) {
        if (!isOfServer(e.status())) {
          throw e;
        }
        brief.remove(place.server());
        last = e;
        boolean mayBeOld = zone.isOver() || e instanceof TransportChangedException;
        if (mayBeOld && !place.equals(again)) {
          again = place;
          i--; // a former session's connection, or its transport: only the present one says more
        } else if (isItsFault(e)) {
          zone.server().suspect();
          if (!zone.server().isSessions()) { // else the leader would be told of itself
            failed.put(zone.server(), e.getMessage());
          }
        }
        if (access.isOver(deadlineNs)) {
          throw outOfTime(last, stale);
        }
      }
    }
    if (last == null) {
      throw stale;
    }
    return null;
  }

  /** The failure of servers that were silent, or busy, until there was no time left. */
  private static TakoException outOfTime(TakoException last, StaleExtentException stale) {
    Status status = last.status() == Status.BUSY ? Status.DEADLINE_EXCEEDED : last.status();
    String others = stale == null ? "" : "; another copy has wrong bytes: " + stale.getMessage();
    return new TakoException(status, last.getMessage() + others, last);
  }

  /** Whether the server is to blame: not when the leader is away, nor when it is busy and well. */
  static boolean isItsFault(TakoException failure) {
    return !(failure instanceof NoSessionException) && failure.status() != Status.BUSY;
  }

  /** Whether another copy may be read after such a failure of one server. */
  static boolean isOfServer(Status status) {
    return switch (status) {
      case DISCONNECTED, UNAVAILABLE, DEADLINE_EXCEEDED, PERMISSION_DENIED, INTERNAL -> true;
      case VERSION_MISMATCH, UNSUPPORTED, BUSY -> true;
      default -> false;
    };
  }

  private static Way way(Map<Integer, Way> known, ZoneAccess zone) throws TakoException {
    Way way = known.get(zone.server().id());
    if (way == null || way.zone != zone) {
      way = new Way(zone, zone.source());
      known.put(zone.server().id(), way);
    }
    return way;
  }
}
