package io.takofs.client.internal.file;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.google.protobuf.ByteString;
import io.takofs.base.TakoException;
import io.takofs.client.internal.session.LeaseKeeper;
import io.takofs.client.internal.session.Session;
import io.takofs.client.internal.session.SessionIdentity;
import io.takofs.client.internal.session.SessionReply;
import io.takofs.client.internal.zone.DataZone;
import io.takofs.config.TakoConfig;
import io.takofs.proto.Append;
import io.takofs.proto.CommitExtents;
import io.takofs.proto.Concat;
import io.takofs.proto.ConcatSource;
import io.takofs.proto.Extent;
import io.takofs.proto.ExtentMap;
import io.takofs.proto.GetExtents;
import io.takofs.proto.GrantExtents;
import io.takofs.proto.OpenedFile;
import io.takofs.proto.Request;
import io.takofs.proto.Status;
import io.takofs.rpc.Operations;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeMap;

/**
 * Joins files. The server moves their extents. Inline bytes are in no extent: this class holds the
 * target's lease and writes them to extents of the target.
 *
 * <p>Thread rule: one thread.
 */
public final class Concatenation {
  /** Attempts: a source may change between the lookup and the concatenation. */
  private static final int ATTEMPTS = 10;

  /** Names of one request, which fits a slot with the extents that it commits. */
  private static final int BATCH_BYTES = 4500;

  /** Bytes of a request for each source, its name excluded. */
  private static final int SOURCE_BYTES = 24;

  private final Session session;
  private final LeaseKeeper leases;
  private final TakoConfig config;
  private final String target;
  private final List<String> sources;

  /** A source as it was seen. */
  private record Source(String name, ExtentMap map) {
    ByteString inline() {
      return map.getInlineData();
    }

    long length() {
      return map.getFile().getLength();
    }

    ConcatSource toProto() {
      return ConcatSource.newBuilder()
          .setName(name)
          .setFileId(map.getFile().getId())
          .setVersion(map.getFile().getVersion())
          .build();
    }
  }

  public Concatenation(
      Session session, LeaseKeeper leases, TakoConfig config, String target, List<String> sources) {
    this.session = session;
    this.leases = leases;
    this.config = config;
    this.target = target;
    this.sources = new ArrayList<>(sources);
  }

  public void run() throws TakoException {
    check();
    for (int attempt = 1; ; attempt++) {
      try {
        join(look());
        return;
      } catch (TakoException e) {
        if (e.status() != Status.STALE_VERSION || attempt == ATTEMPTS) {
          throw e;
        }
      }
    }
  }

  /** Checks that need the paths only. */
  private void check() throws TakoException {
    if (sources.isEmpty()) {
      throw invalid("there are no sources");
    }
    if (new HashSet<>(sources).size() < sources.size()) {
      throw invalid("a source is named twice");
    }
    for (String source : sources) {
      if (source.equals(target)) {
        throw invalid("the target is among the sources");
      }
      if (!PathParts.parentOf(source).equals(PathParts.parentOf(target))) {
        throw invalid("the source " + source + " is in another directory");
      }
    }
  }

  private List<Source> look() throws TakoException {
    List<Source> seen = new ArrayList<>(sources.size());
    for (String source : sources) {
      GetExtents.Builder first = GetExtents.newBuilder().setPath(source).setLimit(1);
      ExtentMap map =
          session.call("concat", source, Request.newBuilder().setGetExtents(first)).getExtentMap();
      seen.add(new Source(PathParts.nameOf(source), map));
    }
    return seen;
  }

  private void join(List<Source> seen) throws TakoException {
    Set<DataZone> before = session.servers().openZones();
    Append.Builder append = Append.newBuilder().setPath(target);
    SessionReply opened =
        session.call("concat", target, Request.newBuilder().setAppend(append), null);
    LeaseKeeper.Lease lease = leases.keep(opened, target);
    try (Joining joining =
        new Joining(opened, FileAccess.forWriter(session, config, opened, before, target))) {
      boolean joined = false;
      try {
        joining.joinAll(seen);
        joined = true;
        lease.released();
      } finally {
        if (!joined) {
          joining.abandon(lease);
        }
      }
    } finally {
      lease.abandon(); // unless it was released
    }
  }

  private TakoException invalid(String why) {
    return new TakoException(Status.INVALID_ARGUMENT, "concat " + target + ": " + why);
  }

  /** The target while it is open. */
  private final class Joining implements AutoCloseable {
    private final SessionIdentity owner;
    private final OpenedFile file;
    private final FileAccess access;
    private ByteString inline; // the target's bytes that are in no extent
    private ReplicatedSink sink;
    private long end;

    /**
     * Extents that are written and not committed, by their place in the target: a server that
     * joined only the first sources of a request is told of the others' again.
     */
    private final TreeMap<Long, Extent> written = new TreeMap<>();

    Joining(SessionReply opened, FileAccess access) {
      this.owner = opened.session();
      this.file = opened.reply().getOpenedFile();
      this.access = access;
      this.inline = file.getInlineData();
      this.end = file.getFile().getLength();
    }

    void joinAll(List<Source> seen) throws TakoException {
      boolean staysInline = fitsInline(seen);
      int next = 0;
      while (next < seen.size()) {
        List<Source> batch = batch(seen.subList(next, seen.size()));
        Concat.Builder request = request(batch, staysInline, next + batch.size() == seen.size());
        int done =
            session
                .call("concat", target, Request.newBuilder().setConcat(request), owner)
                .reply()
                .getConcatenated();
        for (Source source : batch.subList(0, done)) {
          end += source.length();
          sources.remove(0);
        }
        if (sink != null) {
          sink.committed();
        }
        inline = ByteString.EMPTY;
        written.headMap(end).clear();
        next += done;
      }
    }

    private List<Source> batch(List<Source> left) {
      int bytes = target.length();
      int count = 0;
      for (Source source : left) {
        bytes += SOURCE_BYTES + source.name().getBytes(UTF_8).length;
        if (count > 0 && (bytes > BATCH_BYTES || count == Operations.CONCAT_SOURCES_MAX)) {
          break;
        }
        count++;
      }
      return left.subList(0, count);
    }

    private Concat.Builder request(List<Source> batch, boolean staysInline, boolean last)
        throws TakoException {
      CommitExtents.Builder commit =
          CommitExtents.newBuilder()
              .setFileId(file.getFile().getId())
              .setLeaseEpoch(file.getLeaseEpoch())
              .setClose(last);
      if (!staysInline) {
        write(batch, commit);
      }
      commit.setAllWritesCompleted(sink == null || sink.allCompleted());
      Concat.Builder request = Concat.newBuilder().setTarget(target).setCommit(commit);
      batch.forEach(source -> request.addSources(source.toProto()));
      return request;
    }

    /** Whether all that will be in the target can stay in the metadata. */
    private boolean fitsInline(List<Source> all) {
      long total = end;
      boolean allInline = end == inline.size();
      for (Source source : all) {
        total += source.length();
        allInline &= source.length() == source.inline().size();
      }
      return allInline && total <= session.terms().getInlineMax();
    }

    /** Writes inline bytes to extents, at the places that they will have. */
    private void write(List<Source> batch, CommitExtents.Builder commit) throws TakoException {
      long position = end - inline.size();
      position = write(inline, position, commit);
      for (Source source : batch) {
        position += source.length() - source.inline().size();
        position = write(source.inline(), position, commit);
      }
      if (sink != null) {
        sink.flush();
        checkReplicas();
      }
    }

    /** A replica that failed fails this attempt: the next one writes to extents on others. */
    private void checkReplicas() throws TakoException {
      if (sink.hasFailures()) {
        ReplicatedSink.Failure failure = sink.takeFailures().get(0);
        for (Extent extent : written.values()) {
          if (!failure.grantsEnded()
              && session.slabs().places(extent).stream()
                  .anyMatch(place -> place.server() == failure.server().id())) {
            access.report(extent, failure.server(), false, failure.cause().getMessage());
          }
        }
        throw new TakoException(
            Status.STALE_VERSION, failure.cause().getMessage(), failure.cause());
      }
    }

    private long write(ByteString content, long position, CommitExtents.Builder commit)
        throws TakoException {
      ByteBuffer bytes = content.asReadOnlyByteBuffer();
      long next = position;
      while (bytes.hasRemaining()) {
        Extent extent = written.get(next);
        if (extent == null) {
          extent = writeExtent(bytes, next);
          written.put(next, extent);
        } else {
          bytes.position(bytes.position() + extent.getLength());
        }
        commit.addExtents(extent);
        next += extent.getLength();
      }
      return next;
    }

    private Extent writeExtent(ByteBuffer bytes, long fileOffset) throws TakoException {
      if (sink == null) {
        sink = access.sink();
      }
      Extent grant = grant();
      ExtentBuilder extent = new ExtentBuilder(grant, session.slabs().places(grant), fileOffset);
      extent.append(bytes, Math.min(bytes.remaining(), extent.room()), sink);
      return extent.build();
    }

    /** The smallest extent there is. */
    private Extent grant() throws TakoException {
      GrantExtents.Builder wanted =
          GrantExtents.newBuilder()
              .setFileId(file.getFile().getId())
              .setLeaseEpoch(file.getLeaseEpoch())
              .setBytes(1);
      Request.Builder request = Request.newBuilder().setGrantExtents(wanted);
      SessionReply reply = session.call("concat", target, request, owner);
      List<Extent> granted = reply.reply().getGrants().getExtentsList();
      access.granted(granted, reply.terms());
      return granted.get(0);
    }

    /** Closes the target as it is now. */
    void abandon(LeaseKeeper.Lease lease) {
      CommitExtents.Builder commit =
          CommitExtents.newBuilder()
              .setFileId(file.getFile().getId())
              .setLeaseEpoch(file.getLeaseEpoch())
              .setClose(true)
              .setAbandon(true)
              .setAllWritesCompleted(sink == null || sink.allCompleted());
      try {
        session.call("close", target, Request.newBuilder().setCommitExtents(commit), owner);
        lease.released();
      } catch (TakoException e) {
        lease.abandon(); // it is tried again
      }
    }

    @Override
    public void close() {
      if (sink != null) {
        sink.close();
        sink = null;
      }
    }
  }
}
