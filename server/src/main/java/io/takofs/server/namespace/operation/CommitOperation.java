package io.takofs.server.namespace.operation;

import com.google.protobuf.ByteString;
import io.takofs.base.TakoException;
import io.takofs.proto.CommitExtents;
import io.takofs.proto.Extent;
import io.takofs.proto.Reply;
import io.takofs.proto.Status;
import io.takofs.server.extent.ExtentTable;
import io.takofs.server.extent.Grant;
import io.takofs.server.extent.SlabRange;
import io.takofs.server.namespace.state.Context;
import io.takofs.server.namespace.state.DirectoryEntry;
import io.takofs.server.namespace.state.FileExtent;
import io.takofs.server.namespace.state.Inode;
import io.takofs.server.namespace.state.Lease;
import io.takofs.server.namespace.state.QuotaTable;
import io.takofs.server.namespace.state.State;
import java.util.Arrays;

/**
 * Making written bytes part of a file. Only this changes a file's data and length (but for cutting
 * it), and it only ever adds: extents after the committed ones, bytes after the last one's, and
 * inline bytes after those. Extents that grow have the inline bytes that were committed before.
 */
public final class CommitOperation {
  private CommitOperation() {}

  public static Reply apply(Context context, CommitExtents request) throws TakoException {
    Lease lease = Recovery.requireLease(context, request.getFileId(), request.getLeaseEpoch());
    State state = context.state();
    DirectoryEntry file = state.tree.get(lease.parentId(), lease.name());
    Inode inode = file.inode();
    FileExtent last = state.data.last(inode);
    long spaceBefore = state.quotas.isEmpty() ? 0 : QuotaTable.space(state, inode, last);
    long before = inode.length;
    if (request.getExtentsCount() > 0) {
      last = commitExtents(context, request, inode, last);
    }
    if (!request.getInlineData().isEmpty()) {
      commitInline(context, request, inode);
    }
    boolean abandon = request.getClose() && request.getAbandon();
    if (!abandon && request.getLength() != inode.length) {
      throw invalid(
          inode,
          "its data would be %d bytes, but its length %s"
              .formatted(inode.length, Long.toUnsignedString(request.getLength())));
    }
    state.countCommitted(context.tx(), inode.length - before);
    inode.version++;
    inode.modificationMs = context.timeMs();
    if (request.getClose()) {
      close(context, request, inode, last);
    }
    if (!state.quotas.isEmpty()) {
      long more = QuotaTable.space(state, inode, last) - spaceBefore;
      state.quotas.charge(context, state.quotas.over(file.parentId()), 0, more);
    }
    state.tree.put(context.tx(), file);
    return Replies.file(inode.toInfo());
  }

  private static void commitInline(Context context, CommitExtents request, Inode inode)
      throws TakoException {
    State state = context.state();
    ByteString data = request.getInlineData();
    if (request.getInlineOffset() != inode.inlineLength) {
      throw invalid(
          inode,
          "inline bytes from %d on follow %d"
              .formatted(request.getInlineOffset(), inode.inlineLength));
    }
    int max = state.limits().inlineMax();
    if (data.size() > max - inode.inlineLength) {
      throw invalid(
          inode,
          "%d bytes after %d are more than the %d that can be inline"
              .formatted(data.size(), inode.inlineLength, max));
    }
    // The record that this entry removes, for extents have its bytes, can still be read.
    byte[] before = inode.inlineLength == 0 ? new byte[0] : state.data.inline(inode.id);
    byte[] after = Arrays.copyOf(before, before.length + data.size());
    data.copyTo(after, before.length);
    state.data.putInline(context.tx(), inode.id, after);
    inode.inlineLength = after.length;
    inode.length += data.size();
  }

  /** Returns the last extent. */
  private static FileExtent commitExtents(
      Context context, CommitExtents request, Inode inode, FileExtent last) throws TakoException {
    State state = context.state();
    FileExtent growing = last;
    long end = inode.extentsLength();
    FileExtent added = last;
    for (Extent extent : request.getExtentsList()) {
      FileExtent before = added;
      added = FileExtent.of(extent);
      if (added.length() <= 0 || added.length() > extent.getCapacity()) {
        throw invalid(
            inode,
            "an extent of %d bytes cannot hold %d".formatted(extent.getCapacity(), added.length()));
      }
      if (growing != null && added.fileOffset() == growing.fileOffset()) {
        checkGrowth(inode, growing, added);
      } else {
        if (added.fileOffset() != end) {
          throw invalid(
              inode,
              "an extent begins at %s where %d bytes are committed"
                  .formatted(Long.toUnsignedString(added.fileOffset()), end));
        }
        state.extents.commit(
            context.tx(), requireGrant(context, inode, extent), added.fileOffset());
        leave(context, inode, before);
      }
      growing = null;
      state.data.put(context.tx(), inode.id, added);
      end = added.end();
    }
    if (end == inode.extentsLength()) {
      return added;
    }
    if (end < inode.length) {
      throw invalid(inode, "%d bytes would be fewer than are committed".formatted(end));
    }
    if (inode.inlineLength > 0) {
      state.data.removeInline(context.tx(), inode.id);
      inode.inlineLength = 0;
    }
    inode.length = end;
    return added;
  }

  /**
   * A writer goes on in another extent than {@code before} though that has room: a server of it
   * failed, and what was sent there may still land.
   */
  private static void leave(Context context, Inode inode, FileExtent before) {
    if (before != null && before.canGrow()) {
      context.state().data.put(context.tx(), inode.id, before.seal(context.clientId()));
    }
  }

  private static void checkGrowth(Inode inode, FileExtent before, FileExtent after)
      throws TakoException {
    boolean same =
        before.range().equals(after.range())
            && before.generation() == after.generation()
            && before.length() <= after.length();
    if (!same) {
      throw invalid(
          inode,
          "the extent at %d is committed and can only get more bytes"
              .formatted(before.fileOffset()));
    }
    if (before.sealed()) {
      throw ended(inode.id, "the extent at %d is sealed".formatted(before.fileOffset()));
    }
  }

  /** The grant that {@code extent}, of a file, was written under. */
  static Grant requireGrant(Context context, Inode inode, Extent extent) throws TakoException {
    SlabRange range = SlabRange.of(extent);
    ExtentTable extents = context.state().extents;
    Grant grant = extents.granted(inode.id, range);
    if (grant != null && grant.generation() == extent.getGeneration()) {
      return grant;
    }
    if (wasGranted(context.state(), inode.id, extent)) {
      throw ended(inode.id, "%s was taken back".formatted(range));
    }
    throw invalid(
        inode,
        "%s of generation %08x is not granted for it".formatted(range, extent.getGeneration()));
  }

  /**
   * Whether {@code extent} may have been granted under the file's lease, and the grant ended with
   * its slab; the extent may be free by now, or another's.
   */
  private static boolean wasGranted(State state, long fileId, Extent extent) {
    long generation = extent.getGeneration();
    return Long.compareUnsigned(state.leases.get(fileId).epoch(), generation) <= 0
        && Long.compareUnsigned(extent.getSlab(), generation) < 0
        && !state.extents.isGrantedOrOf(fileId, SlabRange.of(extent), generation);
  }

  /** Ends the writer's lease; {@code last} is the file's last extent. */
  static void close(Context context, CommitExtents request, Inode inode, FileExtent last) {
    State state = context.state();
    boolean quiet = request.getAllWritesCompleted();
    for (Grant grant : state.extents.granted(inode.id)) {
      GrantOperation.giveBack(context, grant, quiet);
    }
    if (!quiet && last != null && last.canGrow()) {
      state.data.put(context.tx(), inode.id, last.seal(context.clientId()));
    }
    state.leases.remove(context.tx(), inode.id);
    inode.open = false;
  }

  /** The writer holds its lease and may write elsewhere: it was the slab that closed. */
  static TakoException ended(long fileId, String what) {
    return new TakoException(
        Status.STALE_VERSION,
        "commit to file %016x refused: %s; write what is not committed to another extent"
            .formatted(fileId, what));
  }

  private static TakoException invalid(Inode inode, String why) {
    return new TakoException(
        Status.INVALID_ARGUMENT, "commit to file %016x refused: %s".formatted(inode.id, why));
  }
}
