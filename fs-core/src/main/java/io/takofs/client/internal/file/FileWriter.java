package io.takofs.client.internal.file;

import com.google.protobuf.ByteString;
import io.takofs.base.TakoException;
import io.takofs.client.internal.session.Session;
import io.takofs.client.internal.session.SessionReply;
import io.takofs.layout.Layout;
import io.takofs.proto.CommitExtents;
import io.takofs.proto.Extent;
import io.takofs.proto.GrantExtents;
import io.takofs.proto.OpenedFile;
import io.takofs.proto.Request;
import io.takofs.proto.Status;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;

/**
 * The state of a file open for writing: the bytes kept back because the file is small, and the
 * extents that are granted, filled and not committed yet.
 *
 * <p>Thread rule: one thread at a time.
 */
public final class FileWriter {
  /** Extents in one commit at most: with the bytes it carries they fit a request slot. */
  private static final int COMMIT_MAX = 128;

  /** Bytes asked for in one grant at most. */
  private static final long GRANT_MAX = 8L << 20;

  private final Session session;
  private final FileLease lease;
  private final String path;
  private final ZoneAccess access;
  private final ArrayDeque<Extent> grants = new ArrayDeque<>();
  private final List<ExtentBuilder> uncommitted = new ArrayList<>();

  /** The whole content while it is small; null once it is in extents. */
  private byte[] small;

  /** Made with the first extent: small files need none. */
  private ExtentSink sink;

  private ExtentBuilder current;
  private long position;
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
      ZoneAccess access) {
    this.session = session;
    this.lease = access.lease();
    this.path = path;
    this.access = access;
    this.position = opened.getFile().getLength();
    this.committed = position;
    for (Extent extent : opened.getGrantsList()) {
      grants.add(extent);
      granted += extent.getCapacity();
    }
    if (position == opened.getInlineData().size()) {
      small = new byte[Math.max(inlineMax, opened.getInlineData().size())];
      opened.getInlineData().copyTo(small, 0);
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
      Session session, ZoneAccess access, String path, SessionReply answer, int inlineMax)
      throws TakoException {
    OpenedFile opened = answer.reply().getOpenedFile();
    ExtentBuilder last = null;
    if (opened.hasLastExtent()) {
      last = resume(session, access.source(), path, opened.getLastExtent());
    }
    return new FileWriter(session, path, opened, inlineMax, last, access);
  }

  /** Checksums go on from what is there, so that is read, and verified. */
  private static ExtentBuilder resume(
      Session session, ExtentSource source, String path, Extent last) throws TakoException {
    ExtentView view = new ExtentView(last);
    ByteBuffer tail = ByteBuffer.allocate(last.getLength() % Layout.GRANULE_SIZE);
    try {
      source.read(view, last.getLength() - tail.capacity(), tail.capacity(), tail);
    } catch (StaleExtentException e) {
      throw new TakoException(
          Status.CORRUPT, "append " + path + " on " + session.server() + ": " + e.getMessage(), e);
    }
    return new ExtentBuilder(last, view.checksumEntries(), tail.flip());
  }

  /** Position of the next byte. */
  public long position() {
    return position;
  }

  /** Writes the remaining bytes of {@code source}. */
  public void write(ByteBuffer source) throws TakoException {
    if (small != null) {
      if (source.remaining() <= small.length - position) {
        int count = source.remaining();
        source.get(small, (int) position, count);
        position += count;
        return;
      }
      ByteBuffer content = ByteBuffer.wrap(small, 0, (int) position);
      small = null;
      position = 0;
      append(content);
    }
    append(source);
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
      position += count;
    }
  }

  private void nextExtent(int wanted) throws TakoException {
    if (uncommitted.size() == COMMIT_MAX) {
      flush();
    }
    if (grants.isEmpty()) {
      grant(wanted);
    }
    current = new ExtentBuilder(grants.remove(), position);
    uncommitted.add(current);
  }

  /** As much as is known to be wanted, or as much again as there was: few calls for long files. */
  private void grant(int wanted) throws TakoException {
    long bytes = Math.max(Math.max(wanted, granted), Layout.UNIT_SIZE);
    Request.Builder request =
        Request.newBuilder()
            .setGrantExtents(
                GrantExtents.newBuilder()
                    .setFileId(lease.fileId())
                    .setLeaseEpoch(lease.epoch())
                    .setBytes(Math.min(bytes, GRANT_MAX)));
    List<Extent> extents =
        session.call("write", path, request, lease.holder()).reply().getGrants().getExtentsList();
    if (extents.isEmpty()) {
      throw new TakoException(
          Status.INTERNAL, "write " + path + " on " + session.server() + ": an empty grant");
    }
    access.granted(extents);
    grants.addAll(extents);
    for (Extent extent : extents) {
      granted += extent.getCapacity();
    }
  }

  /** Makes everything written visible. */
  public void flush() throws TakoException {
    if (position != committed) {
      commit(false);
    }
  }

  /** Makes everything written visible and releases the lease. */
  public void close() throws TakoException {
    commit(true);
    releaseBuffers();
  }

  private void commit(boolean close) throws TakoException {
    if (sink != null) {
      sink.flush();
    }
    CommitExtents.Builder commit = commitOf(position, close);
    if (sink != null) {
      commit.addAllPlacements(sink.inlineTail());
    }
    if (small == null) {
      uncommitted.forEach(extent -> commit.addExtents(extent.build()));
    } else if (position != committed) {
      commit.setInlineData(ByteString.copyFrom(small, 0, (int) position));
    }
    session.call("write", path, Request.newBuilder().setCommitExtents(commit), lease.holder());
    if (sink != null) {
      sink.inlineTailPlaced();
    }
    committed = position;
    for (ExtentBuilder extent : uncommitted) {
      if (extent != current || extent.room() == 0) {
        access.done(extent.grant());
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
