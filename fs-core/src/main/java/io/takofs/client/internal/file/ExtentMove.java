package io.takofs.client.internal.file;

import io.takofs.base.TakoException;
import io.takofs.client.internal.zone.Place;
import io.takofs.layout.Layout;
import io.takofs.memory.Granules;
import io.takofs.proto.Status;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * Moves what a writer has not committed to other extents. It is read from a replica, of a closed
 * slab too, completed with the bytes that the writer has kept, verified against the writer's own
 * checksums, and written again. Committed bytes stay where they are.
 *
 * <p>Thread rule: one thread.
 */
final class ExtentMove {
  /** Bytes that are moved at a time. */
  private static final int BUFFER = Granules.BATCH * Layout.GRANULE_SIZE;

  /** Gets granted extents. */
  @FunctionalInterface
  interface Granting {
    /** One whose first byte will be at {@code fileOffset}, of {@code wanted} bytes or fewer. */
    ExtentBuilder extentAt(long fileOffset, int wanted) throws TakoException;
  }

  private final FileAccess access;
  private final ReplicatedSink sink;
  private final ReplicatedSource source;

  /** A move of extents that were written, and are written, through {@code sink}. */
  ExtentMove(FileAccess access, ReplicatedSink sink) {
    this.access = access;
    this.sink = sink;
    this.source = access.source();
  }

  /**
   * Moves what is in {@code from} and not committed.
   *
   * @return the extents that it is in now, by position; none when there was nothing
   */
  List<ExtentBuilder> run(ExtentBuilder from, Granting granting) throws TakoException {
    List<ExtentBuilder> moved = new ArrayList<>();
    long start = from.build().getFileOffset();
    ByteBuffer buffer = ByteBuffer.allocate(BUFFER);
    ExtentBuilder to = null;
    for (int at = from.committed(); at < from.length(); ) {
      readBack(from, at, buffer);
      while (buffer.hasRemaining()) {
        if (to == null || to.room() == 0) {
          to = granting.extentAt(start + at, from.length() - at);
          moved.add(to);
        }
        int count = Math.min(buffer.remaining(), to.room());
        to.append(buffer, count, sink);
        at += count;
      }
    }
    return moved;
  }

  /** Reads bytes from {@code offset} on, as many as there are and have room in {@code buffer}. */
  private void readBack(ExtentBuilder from, int offset, ByteBuffer buffer) throws TakoException {
    ExtentView view = ExtentView.unverified(from.build(), from.places());
    int start = offset - offset % Layout.GRANULE_SIZE;
    int wanted = Math.min(BUFFER, from.length() - start);
    if (hasKept(from, start, wanted, buffer)) {
      buffer.position(offset - start);
      return; // what its server has of it, if that answers, is no more
    }
    long deadlineNs = access.deadline();
    Set<Integer> wrong = new HashSet<>();
    boolean hasLease = false; // as was asked once
    while (true) {
      int server = 0;
      try {
        buffer.clear();
        server = source.read(view, start, wanted, buffer, wrong);
        sink.kept().putInto(from.places(), start, buffer.flip());
        from.verify(buffer, start);
        buffer.position(offset - start);
        return;
      } catch (StaleExtentException e) {
        if (wrong.add(server)) {
          continue; // the others are asked first
        }
        boolean isOver = access.isOver(deadlineNs);
        if (!hasLease || isOver) {
          requireLease();
          hasLease = true;
        }
        if (isOver) {
          throw cannotReadBack(from, wrong, e);
        }
        access.pause(deadlineNs);
      }
    }
  }

  /** Whether the writer has kept all of these bytes itself; then {@code buffer} has them. */
  private boolean hasKept(ExtentBuilder from, int start, int wanted, ByteBuffer buffer) {
    if (!sink.kept().hasAll(from.places(), start, start + wanted)) {
      return false;
    }
    buffer.clear().limit(wanted);
    sink.kept().putInto(from.places(), start, buffer);
    try {
      from.verify(buffer, start);
      return true;
    } catch (StaleExtentException e) {
      return false; // its servers may have what belongs there
    }
  }

  /**
   * Bytes are damaged when all their servers gave wrong ones; otherwise those who had them died.
   */
  private TakoException cannotReadBack(
      ExtentBuilder from, Set<Integer> wrong, StaleExtentException last) {
    String what = "write " + access.path() + ": cannot read back " + last.getMessage();
    for (Place place : from.places()) {
      if (!wrong.contains(place.server())) {
        String silent = access.session().servers().at(place.server()).name();
        return new TakoException(
            Status.UNAVAILABLE,
            what + "; " + silent + " does not answer, and what was not flushed is lost with it",
            last);
      }
    }
    return new TakoException(Status.CORRUPT, what, last);
  }

  /** A writer without its lease finds the bytes that others have written since. */
  private void requireLease() throws TakoException {
    try {
      access.renew();
    } catch (TakoException e) {
      if (e.status() != Status.STALE_VERSION) { // the lease is there, without those grants
        throw e;
      }
    }
  }
}
