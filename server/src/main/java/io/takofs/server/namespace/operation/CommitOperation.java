package io.takofs.server.namespace.operation;

import com.google.protobuf.ByteString;
import io.takofs.base.TakoException;
import io.takofs.proto.CommitExtents;
import io.takofs.proto.Extent;
import io.takofs.proto.Reply;
import io.takofs.proto.Status;
import io.takofs.server.extent.Grant;
import io.takofs.server.extent.Location;
import io.takofs.server.namespace.state.Context;
import io.takofs.server.namespace.state.DirectoryEntry;
import io.takofs.server.namespace.state.FileExtent;
import io.takofs.server.namespace.state.Inode;
import io.takofs.server.namespace.state.Lease;
import io.takofs.server.namespace.state.QuotaTable;
import io.takofs.server.namespace.state.State;

/**
 * Making written bytes part of a file. Only this changes a file's data and length (but for cutting
 * it), and it only ever adds: extents after the committed ones, or bytes after the last one's.
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
      if (!request.getInlineData().isEmpty()) {
        throw invalid(inode, "a commit has extents or inline data, not both");
      }
      last = commitExtents(context, request, inode, last);
    } else if (!request.getInlineData().isEmpty()) {
      commitInline(context, request.getInlineData(), inode);
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

  private static void commitInline(Context context, ByteString data, Inode inode)
      throws TakoException {
    State state = context.state();
    if (inode.hasExtents) {
      throw invalid(inode, "its data is in extents and cannot be inline any more");
    }
    if (data.size() > state.limits.inlineMax()) {
      throw invalid(
          inode,
          "%d bytes are more than the %d that can be inline"
              .formatted(data.size(), state.limits.inlineMax()));
    }
    if (!data.startsWith(ByteString.copyFrom(state.data.inline(inode.id)))) {
      throw invalid(inode, "committed bytes would change");
    }
    state.data.putInline(context.tx(), inode.id, data.toByteArray());
    inode.length = data.size();
  }

  /** Returns the last extent. */
  private static FileExtent commitExtents(
      Context context, CommitExtents request, Inode inode, FileExtent last) throws TakoException {
    State state = context.state();
    FileExtent growing = last;
    long end = inode.length;
    if (!inode.hasExtents) {
      end = 0;
      if (inode.length > 0) {
        state.data.removeInline(context.tx(), inode.id);
      }
    }
    FileExtent added = last;
    for (Extent extent : request.getExtentsList()) {
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
        state.extents.commit(context.tx(), requireGrant(context, inode, extent));
      }
      growing = null;
      state.data.put(context.tx(), inode.id, added);
      end = added.end();
    }
    if (end < inode.length) {
      throw invalid(inode, "%d bytes would be fewer than are committed".formatted(end));
    }
    inode.length = end;
    inode.hasExtents = true;
    return added;
  }

  private static void checkGrowth(Inode inode, FileExtent before, FileExtent after)
      throws TakoException {
    boolean same =
        before.location().equals(after.location())
            && before.generation() == after.generation()
            && before.length() <= after.length();
    if (!same || before.sealed()) {
      throw invalid(
          inode,
          "the extent at %d is committed and %s"
              .formatted(
                  before.fileOffset(), before.sealed() ? "sealed" : "can only get more bytes"));
    }
  }

  /** The grant that {@code extent}, of a file, was written under. */
  static Grant requireGrant(Context context, Inode inode, Extent extent) throws TakoException {
    Location location = Location.of(extent);
    Grant grant = context.state().extents.granted(inode.id, location);
    if (grant == null || grant.generation() != extent.getGeneration()) {
      throw invalid(
          inode,
          "%s of generation %08x is not granted for it"
              .formatted(location, extent.getGeneration()));
    }
    return grant;
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

  private static TakoException invalid(Inode inode, String why) {
    return new TakoException(
        Status.INVALID_ARGUMENT, "commit to file %016x refused: %s".formatted(inode.id, why));
  }
}
