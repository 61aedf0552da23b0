package io.takofs.client.internal.file;

import io.takofs.base.TakoException;
import io.takofs.client.internal.session.HedgedReads;
import io.takofs.client.internal.zone.Place;
import io.takofs.client.internal.zone.RemoteZone;
import java.nio.ByteBuffer;
import java.util.List;

/**
 * One read of a server by transfer that is asked of another server, too, when it takes much longer
 * than usual and that one is connected to. The first good answer counts; the memory of the other
 * one is given back when its transfer is over.
 *
 * <p>Thread rule: one thread.
 */
final class HedgedRead {
  private final FileAccess access;
  private final HedgedReads hedging;
  private final ExtentView extent;
  private final int offset;
  private final int count;

  /** A read of {@code count} bytes at {@code offset} within the extent. */
  HedgedRead(FileAccess access, ExtentView extent, int offset, int count) {
    this.access = access;
    this.hedging = access.session().hedgedReads();
    this.extent = extent;
    this.offset = offset;
    this.count = count;
  }

  /**
   * Reads into {@code target}, whose position moves after the bytes only when they are verified.
   *
   * @param server of {@code first}
   * @param others that may be asked, too, in the order of reads
   * @return the place that gave them
   */
  Place read(ZoneAccess server, Place first, List<Place> others, ByteBuffer target)
      throws TakoException, StaleExtentException {
    long deadlineNs = server.deadline();
    FetchedGranules fetched = fetch(server.remote(), first, deadlineNs);
    try {
      Place other =
          fetched.isLate(hedging.leastNs()) ? access.awaitOther(fetched, others, deadlineNs) : null;
      if (other != null) {
        hedging.hedge();
        server.server().suspect();
        if (readOther(fetched, other, deadlineNs, target)) {
          return other;
        }
      }
      while (!fetched.await(deadlineNs)) {
        server.pause(deadlineNs, fetched.failure()); // it gives up: there are other replicas
        fetched.post(server.remote(), deadlineNs);
      }
      take(fetched, target);
      return first;
    } finally {
      fetched.release();
    }
  }

  private FetchedGranules fetch(RemoteZone zone, Place place, long deadlineNs)
      throws TakoException {
    FetchedGranules fetched =
        FetchedGranules.prepared(
            zone, new FetchedGranules(extent, place, offset, count), deadlineNs);
    boolean isPosted = false;
    try {
      fetched.post(zone, deadlineNs);
      isPosted = true;
    } finally {
      if (!isPosted) {
        fetched.release();
      }
    }
    return fetched;
  }

  /** Reads from {@code place}; false when {@code first} is over before, or it gives nothing. */
  private boolean readOther(
      FetchedGranules first, Place place, long deadlineNs, ByteBuffer target) {
    try {
      ZoneAccess server = access.oneOf(place);
      if (!server.transfers()) {
        server.source().read(extent, place, offset, count, target);
        return true;
      }
      FetchedGranules fetched = fetch(server.remote(), place, deadlineNs);
      try {
        while (!fetched.endsSoon()) {
          if (first.endsSoon() || access.isOver(deadlineNs)) {
            return false;
          }
        }
        if (!fetched.await(deadlineNs)) {
          return false;
        }
        take(fetched, target);
        return true;
      } finally {
        fetched.release();
      }
    } catch (TakoException | StaleExtentException e) {
      return false; // the first one may come yet, or says why not
    }
  }

  private void take(FetchedGranules fetched, ByteBuffer target) throws StaleExtentException {
    fetched.verify();
    fetched.copy(offset, fetched.countFrom(offset, count), target);
  }
}
