package io.takofs.server.namespace.operation;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.takofs.base.TakoException;
import io.takofs.proto.CommitExtents;
import io.takofs.proto.Concat;
import io.takofs.proto.ConcatSource;
import io.takofs.proto.Extent;
import io.takofs.proto.Reply;
import io.takofs.proto.Status;
import io.takofs.rpc.Operations;
import io.takofs.server.codec.ByteWriter;
import io.takofs.server.namespace.state.Context;
import io.takofs.server.namespace.state.DirectoryEntry;
import io.takofs.server.namespace.state.FileData;
import io.takofs.server.namespace.state.FileExtent;
import io.takofs.server.namespace.state.FilePath;
import io.takofs.server.namespace.state.Inode;
import io.takofs.server.namespace.state.Permissions;
import io.takofs.server.namespace.state.QuotaTable;
import io.takofs.server.namespace.state.Walk;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * Appends the data of files to that of another in their directory. The rules are HDFS's: sources
 * are closed, not empty, all different, and have no larger blocks than the target. No byte moves:
 * checksums are relative to an extent, and an extent may begin anywhere in a file.
 */
public final class ConcatOperation {
  /** Extents moved by one entry, unless a single source has more. */
  private static final int MOVED_MAX = 8192;

  /** Extents that a source may have, because an entry moves all of it: 64 GiB of full ones. */
  public static final int SOURCE_EXTENTS_MAX = 65_536;

  private final Context context;
  private final CommitExtents commit;
  private final DirectoryEntry target;
  private final DirectoryEntry parent;
  private final Inode inode;
  private FileExtent last;
  private long end;
  private boolean isElsewhere; // of a source was something that the target is to have elsewhere

  private ConcatOperation(
      Context context, CommitExtents commit, DirectoryEntry target, DirectoryEntry parent) {
    this.context = context;
    this.commit = commit;
    this.target = target;
    this.parent = parent;
    this.inode = target.inode();
    this.last = context.state().data.last(inode);
    this.end = inode.length;
  }

  public static Reply apply(Context context, Concat request) throws TakoException {
    CommitExtents commit = request.getCommit();
    Recovery.requireLease(context, commit.getFileId(), commit.getLeaseEpoch());
    FilePath path = FilePath.parse(request.getTarget());
    Walk walk = context.state().tree.walk(path, context.caller());
    DirectoryEntry target = walk.target();
    if (target.inode().id != commit.getFileId()) {
      throw new TakoException(Status.STALE_VERSION, path + " is another file by now");
    }
    DirectoryEntry parent = walk.parent();
    Permissions.require(context.caller(), parent.inode(), Permissions.WRITE, walk.parentPath());
    return new ConcatOperation(context, commit, target, parent).run(request.getSourcesList());
  }

  private Reply run(List<ConcatSource> asked) throws TakoException {
    if (asked.size() > Operations.CONCAT_SOURCES_MAX) {
      throw invalid(
          "%d sources in one request are more than %d"
              .formatted(asked.size(), Operations.CONCAT_SOURCES_MAX));
    }
    List<DirectoryEntry> sources = sources(asked);
    long spaceBefore = QuotaTable.space(context.state(), inode);
    boolean inline = !inode.hasExtents() && commit.getExtentsCount() == 0;
    for (DirectoryEntry source : sources) {
      inline &= !source.inode().hasExtents();
    }
    int done = inline ? joinInline(sources) : joinExtents(sources);
    for (DirectoryEntry source : sources.subList(0, done)) {
      spaceBefore += QuotaTable.space(context.state(), source.inode());
      context.state().tree.remove(context.tx(), source);
      Detached.emptied(context, source.inode());
    }
    inode.length = end;
    inode.inlineLength = inline ? (int) end : 0;
    inode.version++;
    inode.modificationMs = context.timeMs();
    if (commit.getClose() && done == asked.size()) {
      CommitOperation.close(context, commit, inode, last);
    }
    charge(-done, spaceBefore);
    if (isElsewhere) {
      context.state().toMove.add(context.tx(), target, context.index());
    }
    context.state().tree.put(context.tx(), target);
    context.state().tree.touch(context.tx(), parent, context.timeMs());
    return Reply.newBuilder().setConcatenated(done).build();
  }

  /** The target counts as what the sources did; more when its replication is larger. */
  private void charge(long names, long spaceBefore) throws TakoException {
    QuotaTable quotas = context.state().quotas;
    if (!quotas.isEmpty()) {
      long space = QuotaTable.space(context.state(), inode, last) - spaceBefore;
      quotas.charge(context, quotas.over(target.parentId()), names, space);
    }
  }

  // ---- what may be joined

  private List<DirectoryEntry> sources(List<ConcatSource> asked) throws TakoException {
    if (asked.isEmpty()) {
      throw invalid("there are no sources");
    }
    List<DirectoryEntry> sources = new ArrayList<>(asked.size());
    Set<Long> ids = new HashSet<>();
    for (ConcatSource source : asked) {
      DirectoryEntry entry = source(source);
      if (!ids.add(entry.inode().id)) {
        throw invalid("the source " + source.getName() + " is named twice");
      }
      sources.add(entry);
    }
    return sources;
  }

  private DirectoryEntry source(ConcatSource asked) throws TakoException {
    String name = asked.getName();
    DirectoryEntry entry = context.state().tree.get(target.parentId(), name.getBytes(UTF_8));
    if (entry == null) {
      throw new TakoException(Status.NOT_FOUND, "the source " + name + " does not exist");
    }
    Inode source = entry.inode();
    if (source.directory) {
      throw new TakoException(Status.IS_A_DIRECTORY, "the source " + name + " is a directory");
    }
    if (source.id == inode.id) {
      throw invalid("the source " + name + " is the target");
    }
    if (source.open) {
      throw new TakoException(
          Status.LEASE_HELD,
          "the source " + name + " is open for writing; wait until it is closed");
    }
    if (source.length == 0) {
      throw invalid("the source " + name + " is empty");
    }
    if (source.blockSize > inode.blockSize) {
      throw invalid(
          "the source %s has blocks of %d bytes, which is more than the target's %d"
              .formatted(name, source.blockSize, inode.blockSize));
    }
    if (source.id != asked.getFileId() || source.version != asked.getVersion()) {
      throw new TakoException(
          Status.STALE_VERSION, "the source " + name + " has changed; look at it again");
    }
    Permissions.require(context.caller(), source, Permissions.READ, name);
    XAttrOperation.requireReadable(context.state(), context.caller(), source, name);
    Permissions.requireNotStuck(context.caller(), parent.inode(), source, name);
    return entry;
  }

  // ---- joining

  private int joinInline(List<DirectoryEntry> sources) throws TakoException {
    FileData data = context.state().data;
    for (DirectoryEntry source : sources) {
      end += source.inode().length;
    }
    int max = context.state().limits().inlineMax();
    if (end > max) {
      throw invalid("%d bytes are more than the %d that can be inline".formatted(end, max));
    }
    ByteWriter joined = new ByteWriter((int) end).raw(data.inline(inode.id));
    for (DirectoryEntry source : sources) {
      joined.raw(data.inline(source.inode().id));
      data.removeInline(context.tx(), source.inode().id);
    }
    data.putInline(context.tx(), inode.id, joined.toBytes());
    return sources.size();
  }

  /** Returns how many sources are done. */
  private int joinExtents(List<DirectoryEntry> sources) throws TakoException {
    if (inode.hasExtents()) {
      sealUnlessQuiet();
    }
    end = inode.extentsLength();
    addWritten(inode);
    int done = 0;
    int moved = 0;
    for (DirectoryEntry entry : sources) {
      Inode source = entry.inode();
      if (source.hasExtents()) {
        List<FileExtent> extents = new ArrayList<>();
        int room = done == 0 ? SOURCE_EXTENTS_MAX : MOVED_MAX - moved;
        context.state().data.scan(source.id, 0, e -> extents.add(e) && extents.size() <= room);
        if (extents.size() > room) {
          if (done == 0) {
            throw invalid(
                "the source %s has more than %d extents; copy it"
                    .formatted(new String(entry.name(), UTF_8), SOURCE_EXTENTS_MAX));
          }
          break;
        }
        extents.forEach(extent -> move(source, extent));
        moved += extents.size();
      }
      addWritten(source);
      done++;
    }
    return done;
  }

  private void move(Inode source, FileExtent extent) {
    context.state().data.remove(context.tx(), source.id, extent);
    context.state().extents.moved(context.tx(), extent.range(), inode.id, end);
    int copies = context.state().limits().copies(inode.replication);
    isElsewhere |= MoveOperation.isElsewhere(context.state(), extent, copies);
    add(extent.movedTo(end));
  }

  /** Adds what the caller wrote for the inline data of {@code file}, if it has any: that goes. */
  private void addWritten(Inode file) throws TakoException {
    if (file.inlineLength == 0) {
      return;
    }
    long until = end + file.inlineLength;
    for (Extent written : commit.getExtentsList()) {
      if (written.getFileOffset() == end && end < until) {
        FileExtent extent = FileExtent.of(written);
        if (extent.length() <= 0 || extent.length() > written.getCapacity()) {
          throw invalid("an extent of %d bytes".formatted(extent.length()));
        }
        context
            .state()
            .extents
            .commit(context.tx(), CommitOperation.requireGrant(context, inode, written), end);
        add(commit.getAllWritesCompleted() ? extent : extent.seal(context.clientId()));
      }
    }
    if (end != until) {
      throw invalid(
          "%d bytes of small content were to be written to extents; they end at %d, not %d"
              .formatted(file.inlineLength, end, until));
    }
    context.state().data.removeInline(context.tx(), file.id);
  }

  private void add(FileExtent extent) {
    context.state().data.put(context.tx(), inode.id, extent);
    last = extent;
    end = extent.end();
  }

  /** After the lease ends, nothing distinguishes the former last extent from others. */
  private void sealUnlessQuiet() {
    if (last.canGrow() && !commit.getAllWritesCompleted()) {
      context.state().data.put(context.tx(), inode.id, last.seal(context.clientId()));
    }
  }

  private TakoException invalid(String why) {
    return new TakoException(
        Status.INVALID_ARGUMENT,
        "nothing is concatenated to %s: %s".formatted(new String(target.name(), UTF_8), why));
  }
}
