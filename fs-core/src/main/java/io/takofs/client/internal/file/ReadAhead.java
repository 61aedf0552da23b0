package io.takofs.client.internal.file;

import io.takofs.base.SharedCleaner;
import io.takofs.base.TakoException;
import io.takofs.client.internal.zone.Place;
import io.takofs.client.internal.zone.RemoteZone;
import io.takofs.layout.Layout;
import java.lang.ref.Reference;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;

/**
 * Fetches what a sequential reader will want next. The further it has read without a jump, the more
 * is fetched, up to a limit.
 *
 * <p>Thread rule: one thread at a time.
 */
public final class ReadAhead {
  /** Finds extents: those that are known, no call is made. */
  @FunctionalInterface
  interface Finder {
    ExtentView find(long position);
  }

  /** Read-ahead limit of one stream, bytes. */
  static final long LIMIT_MAX = 64L << 20;

  private final FileAccess access;
  private final Finder finder;
  private final long limit;
  private final boolean eager;
  private final ArrayDeque<FetchedGranules> chunks = new ArrayDeque<>();
  private long expected = -1;
  private long streak;

  /**
   * For one stream.
   *
   * @param limit bytes fetched ahead at most
   * @param eager whether all of them from the first read on
   */
  ReadAhead(FileAccess access, Finder finder, long limit, boolean eager) {
    this.access = access;
    this.finder = finder;
    this.limit = limit;
    this.eager = eager;
    // A stream that nobody closes gives its buffers back when it is garbage.
    ArrayDeque<FetchedGranules> fetched = chunks;
    SharedCleaner.register(this, () -> releaseAll(fetched));
  }

  /**
   * Reads from {@code position} what was fetched ahead or is worth fetching.
   *
   * @return bytes read; 0 when this has nothing to give and a direct read must do
   */
  int read(long position, ByteBuffer target) throws TakoException {
    try {
      return readOrFetch(position, target);
    } finally {
      Reference.reachabilityFence(this); // else the buffers may be released while they are copied
    }
  }

  private int readOrFetch(long position, ByteBuffer target) throws TakoException {
    if (position != expected) {
      drop();
      streak = 0;
    }
    int start = target.position();
    try {
      readOn(position, target);
    } catch (StaleExtentException e) {
      drop(); // the direct read finds out whether the list is old or the bytes are bad
    }
    int count = target.position() - start;
    streak += count;
    expected = position + count;
    return count;
  }

  private void readOn(long position, ByteBuffer target) throws TakoException, StaleExtentException {
    long at = position;
    while (target.hasRemaining()) {
      while (!chunks.isEmpty() && chunks.element().fileEnd() <= at) {
        chunks.remove().release();
      }
      fetch(at, target.remaining());
      if (chunks.isEmpty()) {
        return;
      }
      FetchedGranules chunk = chunks.element();
      long deadlineNs = access.deadline(chunk);
      if (access.isLate(chunk, deadlineNs)) {
        drop(); // the direct read asks another server
        return;
      }
      if (!access.isHere(chunk, deadlineNs)) {
        drop();
        return;
      }
      chunk.verify();
      int count = (int) Math.min(target.remaining(), chunk.fileEnd() - at);
      chunk.copyFrom(at, count, target);
      at += count;
    }
  }

  /** Keeps enough on its way for a reader at {@code position} that wants {@code wanted} bytes. */
  private void fetch(long position, int wanted) throws TakoException {
    long goal = position + (eager ? limit : Math.min(limit, Math.max(wanted, 4 * streak)));
    long next = chunks.isEmpty() ? position : chunks.getLast().fileEnd();
    while (next < goal && chunks.size() < RemoteZone.TRANSFERS_MAX / 4) {
      ExtentView extent = finder.find(next);
      if (extent == null || extent.length() == 0) {
        return;
      }
      int offset = (int) (next - extent.start());
      int count = (int) Math.min(extent.end() - next, Math.max(goal - next, Layout.UNIT_SIZE));
      Place place = ReplicaOrder.first(access, extent);
      if (!(access.reached(extent, place) instanceof RemoteZone zone)) {
        return; // it is read where it is, or from another replica
      }
      FetchedGranules chunk = new FetchedGranules(extent, place, offset, count);
      if (!chunk.tryPrepare(zone)) {
        return;
      }
      chunks.add(chunk);
      try {
        chunk.post(zone, access.deadline(chunk));
      } catch (TakoException e) {
        if (!access.isElsewhere(chunk, e)) {
          throw e;
        }
        drop();
        return;
      }
      next = chunk.fileEnd();
    }
  }

  /** Gives everything up. */
  public void drop() {
    try {
      releaseAll(chunks);
    } finally {
      Reference.reachabilityFence(this);
    }
  }

  private static void releaseAll(ArrayDeque<FetchedGranules> chunks) {
    chunks.forEach(FetchedGranules::release);
    chunks.clear();
  }
}
