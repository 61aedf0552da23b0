package io.takofs.client.internal.file;

import io.takofs.base.TakoException;
import io.takofs.client.internal.session.Session;
import io.takofs.client.internal.session.SessionReply;
import io.takofs.client.internal.zone.Place;
import io.takofs.layout.Layout;
import io.takofs.proto.CommitExtents;
import io.takofs.proto.Extent;
import io.takofs.proto.GrantExtents;
import io.takofs.proto.OpenedFile;
import io.takofs.proto.Request;
import io.takofs.proto.Slab;
import io.takofs.proto.Status;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;

/**
 * The state of a file open for writing: the extents that are granted, filled and not committed yet,
 * and the bytes after them.
 *
 * <p>Thread rule: one thread at a time.
 */
public final class FileWriter {
  /** Extents that inline bytes may be in afterwards. */
  private static final int INLINE_EXTENTS_MAX = 2;

  /**
   * Extents in one commit at most, of up to 64 MiB: that much is copied to another slab when the
   * one that is written is closed. They fit a request slot with the bytes that a commit carries.
   */
  private static final int COMMIT_MAX = 64;

  /** Attempts to commit: slabs may be closed meanwhile. */
  private static final int ATTEMPTS = 10;

  /** Extents given up in one grant at most: they fit a request slot. */
  private static final int GIVEN_UP_MAX = 128;

  /** Bytes asked for in one grant at most. */
  private static final long GRANT_MAX = 8L << 20;

  private final Session session;
  private final FileLease lease;
  private final String path;
  private final FileAccess access;
  private final ArrayDeque<Extent> grants = new ArrayDeque<>();
  private final List<ExtentBuilder> uncommitted = new ArrayList<>();

  /** Granted extents given up, until the leader knows: nothing was sent to these. */
  private final List<Extent> unused = new ArrayList<>();

  /** As {@link #unused}, of those where something may still land. */
  private final List<Extent> left = new ArrayList<>();

  private final InlineBytes inline;

  /** Whether a few bytes stay inline: not where they are in an extent as quickly. */
  private boolean staysInline;

  /** Made with the first extent: small files need none. */
  private ReplicatedSink sink;

  private ExtentBuilder current;
  private long extentsEnd; // position in the file after what is in extents
  private long committed;
  private long granted;

  /**
   * A writer.
   *
   * @param inlineMax bytes a file may keep in its metadata
   * @param last the partly filled last extent, null when there is none
   */
  FileWriter(
      Session session,
      String path,
      OpenedFile opened,
      int inlineMax,
      ExtentBuilder last,
      FileAccess access) {
    this.session = session;
    this.lease = access.lease();
    this.path = path;
    this.access = access;
    this.committed = opened.getFile().getLength();
    this.inline = new InlineBytes(opened.getInlineData(), inlineMax);
    this.extentsEnd = committed - inline.size();
    this.staysInline = extentsEnd == 0 || inline.size() > 0;
    for (Extent extent : opened.getGrantsList()) {
      grants.add(extent);
      granted += extent.getCapacity();
    }
    if (last != null) {
      current = last;
      uncommitted.add(last);
    }
  }

  /** Bytes to ask for with the file when {@code length} will be written; small ones need none. */
  public static long grantFor(long length) {
    return length < Layout.UNIT_SIZE ? 0 : Math.min(length, GRANT_MAX);
  }

  /** The writer of the file that {@code answer} opened, going on in its last extent. */
  public static FileWriter open(
      Session session, FileAccess access, String path, SessionReply answer, int inlineMax)
      throws TakoException {
    OpenedFile opened = answer.reply().getOpenedFile();
    ExtentBuilder last = null;
    if (opened.hasLastExtent()) {
      last = resume(session, access, path, opened.getLastExtent());
    }
    return new FileWriter(session, path, opened, inlineMax, last, access);
  }

  /** Checksums go on from what is there, so that is read, and verified. */
  private static ExtentBuilder resume(Session session, FileAccess access, String path, Extent last)
      throws TakoException {
    List<Place> places = session.slabs().places(last);
    ExtentView view = new ExtentView(last, places);
    ByteBuffer tail = ByteBuffer.allocate(last.getLength() % Layout.GRANULE_SIZE);
    try {
      int from = last.getLength() - tail.capacity();
      for (int server : access.source().readFromAny(view, from, tail.capacity(), tail)) {
        access.report(last, session.servers().at(server), true, "wrong bytes before an append");
      }
    } catch (StaleExtentException e) {
      throw new TakoException(
          Status.CORRUPT, "append " + path + " on " + session.server() + ": " + e.getMessage(), e);
    }
    return new ExtentBuilder(last, places, view.checksumEntries(), tail.flip());
  }

  /** Position of the next byte. */
  public long position() {
    return extentsEnd + inline.size();
  }

  /** Writes the remaining bytes of {@code source}. */
  public void write(ByteBuffer source) throws TakoException {
    if (staysInline && source.remaining() <= inline.room()) {
      inline.put(source);
      return;
    }
    if (inline.size() > 0) {
      if (uncommitted.size() + INLINE_EXTENTS_MAX > COMMIT_MAX) {
        flush(); // the next commit has all extents with what is inline now
      }
      append(inline.take());
    }
    int end = source.limit();
    append(source.limit(end - restInline(source.remaining())));
    inline.put(source.limit(end));
  }

  /** The bytes after the last full granule of {@code count} to write, if they stay inline. */
  private int restInline(int count) {
    int rest = (int) ((extentsEnd + count) % Layout.GRANULE_SIZE);
    return sink != null && staysInline && rest <= Math.min(count, inline.room()) ? rest : 0;
  }

  private void append(ByteBuffer source) throws TakoException {
    if (sink == null) {
      sink = access.sink();
    }
    while (source.hasRemaining()) {
      if (current == null || current.room() == 0) {
        nextExtent(source.remaining());
      }
      int count = Math.min(source.remaining(), current.room());
      current.append(source, count, sink);
      extentsEnd += count;
      leaveFailed(false);
    }
    staysInline = !sink.placesAtOnce();
  }

  private void nextExtent(int wanted) throws TakoException {
    if (uncommitted.size() >= COMMIT_MAX) {
      flush();
    }
    current = extentAt(extentsEnd, wanted);
    uncommitted.add(current);
  }

  /** A granted extent for the bytes from {@code fileOffset} on. */
  private ExtentBuilder extentAt(long fileOffset, int wanted) throws TakoException {
    if (grants.isEmpty()) {
      grant(wanted);
    }
    Extent grant = grants.remove();
    return new ExtentBuilder(grant, session.slabs().places(grant), fileOffset);
  }

  /**
   * Goes on without the replicas that failed: what is not committed moves to other extents.
   *
   * @param ended whether grants are known to have ended, with their slab
   */
  private void leaveFailed(boolean ended) throws TakoException {
    long deadlineNs = access.deadline();
    Set<Integer> failed = new HashSet<>();
    boolean all = ended;
    while (all || sink.hasFailures()) {
      List<ReplicatedSink.Failure> failures = sink.takeFailures();
      if (!failures.isEmpty() && access.isOver(deadlineNs)) {
        TakoException last = failures.get(0).cause();
        throw new TakoException(
            Status.DEADLINE_EXCEEDED,
            "write " + path + ": copies failed until no time was left: " + last.getMessage(),
            last);
      }
      for (ReplicatedSink.Failure failure : failures) {
        if (failure.grantsEnded()) {
          all = true;
        } else {
          failed.add(failure.server().id());
          report(failure);
        }
      }
      try {
        if (move(failed, all)) {
          sink.moved();
          failed.clear();
          all = false;
        }
      } catch (TakoException e) {
        if (e.status() != Status.STALE_VERSION || access.isOver(deadlineNs)) {
          throw e;
        }
        all = true; // a slab was closed meanwhile
      }
    }
  }

  private void giveUp(Predicate<Extent> which) {
    for (Extent grant : grants) {
      if (which.test(grant)) {
        access.givesUp(grant);
        unused.add(name(grant));
      }
    }
    grants.removeIf(which);
  }

  /** The fields by which the leader knows a granted extent. */
  private static Extent name(Extent grant) {
    return Extent.newBuilder()
        .setSlab(grant.getSlab())
        .setOffset(grant.getOffset())
        .setCapacity(grant.getCapacity())
        .setGeneration(grant.getGeneration())
        .build();
  }

  private void report(ReplicatedSink.Failure failure) {
    Set<Long> slabs = new HashSet<>();
    for (ExtentBuilder extent : uncommitted) {
      if (extent.isOn(failure.server().id()) && slabs.add(extent.grant().getSlab())) {
        access.report(extent.grant(), failure.server(), false, failure.cause().getMessage());
      }
    }
  }

  private boolean isOn(Extent grant, Set<Integer> servers) {
    Slab slab = session.slabs().find(grant.getSlab());
    return slab != null
        && slab.getReplicasList().stream()
            .anyMatch(replica -> servers.contains(replica.getServer()));
  }

  /**
   * Moves what is in uncommitted extents with replicas on {@code failed} servers. An extent may
   * take many smaller ones; those before the next extent to move are committed when they are many.
   *
   * @param all whether all others are moved too, because their grants may have ended
   * @return false when another replica failed meanwhile, and not all was moved
   * @throws TakoException STALE_VERSION when grants have ended, with their slab
   */
  private boolean move(Set<Integer> failed, boolean all) throws TakoException {
    giveUp(grant -> all || isOn(grant, failed));
    if (all) {
      // The leader need not prove these grants again with those that it gives for the move.
      uncommitted.forEach(extent -> access.done(extent, false));
      sink.endGrants();
    } else {
      sink.flush(); // so that the other replicas have what this one lacks
    }
    ExtentMove move = new ExtentMove(access, sink);
    for (int i = 0; i < uncommitted.size(); i++) {
      if (sink.hasFailures()) {
        return false;
      }
      ExtentBuilder extent = uncommitted.get(i);
      if (!all && failed.stream().noneMatch(server -> mustLeave(extent, server))) {
        continue;
      }
      List<ExtentBuilder> moved = move.run(extent, this::extentAt);
      access.done(extent, false);
      if (extent.committed() == 0) {
        boolean isUntouched = sink.isUntouched(extent.places());
        (isUntouched ? unused : left).add(name(extent.grant())); // after all of it was read back
      }
      sink.forget(extent.places());
      uncommitted.remove(i);
      uncommitted.addAll(i, moved);
      if (extent == current) {
        current = moved.isEmpty() ? null : moved.get(moved.size() - 1);
      }
      i += moved.size() - 1;
      while (i + 1 > COMMIT_MAX) {
        sink.flush();
        if (sink.hasFailures()) {
          return false;
        }
        commitFirst();
        i -= COMMIT_MAX;
      }
    }
    return !sink.hasFailures();
  }

  /**
   * Whether what is not committed of {@code extent} must go elsewhere when {@code server} failed:
   * it has other replicas, which make no sense without this one, or nothing of it is there.
   */
  private boolean mustLeave(ExtentBuilder extent, int server) {
    return extent.isOn(server)
        && (extent.places().size() > 1
            || sink.kept().hasAll(extent.places(), extent.committed(), extent.length()));
  }

  /** As much as is known to be wanted, or as much again as there was: few calls for long files. */
  private void grant(int wanted) throws TakoException {
    long bytes = Math.max(Math.max(wanted, granted), Layout.UNIT_SIZE);
    List<Extent> givenUp = unused.subList(0, Math.min(unused.size(), GIVEN_UP_MAX));
    List<Extent> nowLeft = left.subList(0, Math.min(left.size(), GIVEN_UP_MAX - givenUp.size()));
    Request.Builder request =
        Request.newBuilder()
            .setGrantExtents(
                GrantExtents.newBuilder()
                    .setFileId(lease.fileId())
                    .setLeaseEpoch(lease.epoch())
                    .setBytes(Math.min(bytes, GRANT_MAX))
                    .addAllUnused(givenUp)
                    .addAllLeft(nowLeft));
    SessionReply reply = session.call("write", path, request, lease.holder());
    List<Extent> extents = reply.reply().getGrants().getExtentsList();
    if (extents.isEmpty()) {
      throw new TakoException(
          Status.INTERNAL, "write " + path + " on " + session.server() + ": an empty grant");
    }
    givenUp.clear();
    nowLeft.clear();
    access.granted(extents, reply.terms());
    grants.addAll(extents);
    for (Extent extent : extents) {
      granted += extent.getCapacity();
    }
  }

  /** Makes everything written visible. */
  public void flush() throws TakoException {
    if (position() != committed) {
      commit(false);
    }
  }

  /** Makes everything written visible and releases the lease. */
  public void close() throws TakoException {
    commit(true);
    access.closed();
    releaseBuffers();
  }

  private void commit(boolean close) throws TakoException {
    for (int attempt = 1; ; attempt++) {
      flushSink();
      try {
        while (uncommitted.size() > COMMIT_MAX) {
          commitFirst();
        }
        commitOnce(close);
        return;
      } catch (TakoException e) {
        if (e.status() != Status.STALE_VERSION || attempt == ATTEMPTS || uncommitted.isEmpty()) {
          throw e;
        }
        // A slab was closed, and with it each grant in it ended.
        sink = sink == null ? access.sink() : sink;
        leaveFailed(true);
      }
    }
  }

  private void flushSink() throws TakoException {
    if (sink != null) {
      sink.flush();
      while (sink.hasFailures()) {
        leaveFailed(false);
        sink.flush();
      }
    }
  }

  /**
   * Commits as many extents as one commit takes, which are placed at their servers, and not those
   * after them, nor what is inline. They have more bytes than the file had inline before.
   */
  private void commitFirst() throws TakoException {
    List<ExtentBuilder> first = uncommitted.subList(0, COMMIT_MAX);
    long end = first.get(COMMIT_MAX - 1).end();
    call(first, commitOf(end, false));
    committed = end;
    for (ExtentBuilder extent : first) {
      extent.commit();
      access.done(extent, true);
    }
    first.clear();
  }

  private void call(List<ExtentBuilder> extents, CommitExtents.Builder commit)
      throws TakoException {
    for (ExtentBuilder extent : extents) {
      if (extent.length() > extent.committed()) {
        commit.addExtents(extent.build());
      }
    }
    session.call("write", path, Request.newBuilder().setCommitExtents(commit), lease.holder());
  }

  private void commitOnce(boolean close) throws TakoException {
    CommitExtents.Builder commit = commitOf(position(), close);
    inline.addTo(commit);
    call(uncommitted, commit);
    if (sink != null) {
      sink.committed();
    }
    committed = position();
    inline.committed();
    for (ExtentBuilder extent : uncommitted) {
      extent.commit();
      if (extent != current || extent.room() == 0) {
        access.done(extent, true);
      }
    }
    uncommitted.clear();
    if (current != null && current.room() > 0) {
      uncommitted.add(current);
    }
  }

  /** Gives up what is not committed and releases the lease. */
  public void abort() throws TakoException {
    Request.Builder request =
        Request.newBuilder().setCommitExtents(commitOf(committed, true).setAbandon(true));
    releaseBuffers();
    session.call("close", path, request, lease.holder());
  }

  /** Releases local memory; nothing can be written any more. */
  public void releaseBuffers() {
    if (sink != null) {
      sink.close();
    }
  }

  private CommitExtents.Builder commitOf(long length, boolean close) {
    return CommitExtents.newBuilder()
        .setFileId(lease.fileId())
        .setLeaseEpoch(lease.epoch())
        .setLength(length)
        .setClose(close)
        .setAllWritesCompleted(close && (sink == null || sink.allCompleted()));
  }
}
