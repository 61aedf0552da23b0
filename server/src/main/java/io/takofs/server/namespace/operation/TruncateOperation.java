package io.takofs.server.namespace.operation;

import io.takofs.base.TakoException;
import io.takofs.layout.Layout;
import io.takofs.proto.Extent;
import io.takofs.proto.Reply;
import io.takofs.proto.Status;
import io.takofs.proto.Truncate;
import io.takofs.server.extent.SlabRange;
import io.takofs.server.namespace.state.Context;
import io.takofs.server.namespace.state.DirectoryEntry;
import io.takofs.server.namespace.state.FileData;
import io.takofs.server.namespace.state.FileExtent;
import io.takofs.server.namespace.state.FilePath;
import io.takofs.server.namespace.state.Inode;
import io.takofs.server.namespace.state.Permissions;
import io.takofs.server.namespace.state.State;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Cutting a closed file. No byte moves: extents after the cut are given up, the one it goes through
 * gets the length and CRCs that the caller computed and is sealed, for readers may still look at
 * the bytes after it. Of a file with very many extents an entry cuts off a part, at the end; the
 * caller goes on until the file is as long as it is to be.
 */
public final class TruncateOperation {
  /** Extents given up by one entry. */
  public static final int EXTENTS_MAX = 4096;

  private TruncateOperation() {}

  public static Reply apply(Context context, Truncate request) throws TakoException {
    FilePath path = FilePath.parse(request.getPath());
    State state = context.state();
    DirectoryEntry file = state.tree.lookupFile(path, context.caller());
    Inode inode = file.inode();
    Permissions.require(context.caller(), inode, Permissions.WRITE, path.toString());
    long lateWriter = Recovery.takeOver(context, file, path);
    long asked = request.getLength();
    if (Long.compareUnsigned(asked, inode.length) > 0) {
      throw new TakoException(
          Status.INVALID_ARGUMENT,
          "%s has %d bytes; it cannot be cut to %s"
              .formatted(path, inode.length, Long.toUnsignedString(asked)));
    }
    if (request.getExpectedVersion() != inode.version) {
      throw new TakoException(
          Status.STALE_VERSION,
          "%s has version %d by now, not %d; look at it again"
              .formatted(path, inode.version, request.getExpectedVersion()));
    }
    if (asked < inode.length) {
      long length = asked < inode.extentsLength() ? nextCut(state, inode, asked) : asked;
      state.quotas.add(
          context.tx(),
          state.quotas.over(file.parentId()),
          0,
          (length - inode.length) * inode.replication);
      int inlineLength = (int) Math.max(0, length - inode.extentsLength());
      cutInline(context, inode, inlineLength);
      if (length < inode.extentsLength()) {
        cutExtents(context, request, inode, length, lateWriter);
      }
      inode.inlineLength = inlineLength;
      inode.length = length;
      inode.modificationMs = context.timeMs();
      inode.version++;
      state.tree.put(context.tx(), file);
    }
    return Replies.file(inode.toInfo());
  }

  private static void cutInline(Context context, Inode inode, int length) {
    FileData data = context.state().data;
    if (length == 0 && inode.inlineLength > 0) {
      data.removeInline(context.tx(), inode.id);
    } else if (length < inode.inlineLength) {
      data.putInline(context.tx(), inode.id, Arrays.copyOf(data.inline(inode.id), length));
    }
  }

  /** The length to cut to, so that one entry gives up no more extents than it may. */
  private static long nextCut(State state, Inode inode, long asked) {
    int max = Math.min(EXTENTS_MAX, state.store.removalsMax());
    // A forward scan from near enough to the end: how long extents are is not known.
    for (long tail = (long) max * Layout.EXTENT_SIZE_MAX; ; tail /= 2) {
      long from = Math.max(asked, inode.extentsLength() - tail);
      List<FileExtent> extents = new ArrayList<>();
      state.data.scan(inode.id, from, e -> extents.add(e) && extents.size() <= max);
      if (extents.size() <= max) {
        return Math.max(asked, from == asked ? asked : extents.get(0).fileOffset());
      }
    }
  }

  private static void cutExtents(
      Context context, Truncate request, Inode inode, long length, long lateWriter)
      throws TakoException {
    FileData data = context.state().data;
    List<FileExtent> extents = new ArrayList<>();
    data.scan(inode.id, length, extents::add);
    for (FileExtent extent : extents) {
      if (extent.fileOffset() >= length) {
        Detached.release(context, inode.id, extent, lateWriter);
      } else {
        FileExtent cut = cut(request, extent);
        long writer = extent.sealed() ? extent.lateWriter() : lateWriter;
        data.put(context.tx(), inode.id, cut.seal(writer));
      }
    }
  }

  /** The extent that holds bytes on both sides of the cut, as the caller says it is afterwards. */
  private static FileExtent cut(Truncate request, FileExtent extent) throws TakoException {
    Extent asked = request.getLastExtent();
    boolean fits =
        asked.getFileOffset() == extent.fileOffset()
            && extent.fileOffset() + asked.getLength() == request.getLength();
    boolean isPresent =
        SlabRange.of(asked).equals(extent.range()) && asked.getGeneration() == extent.generation();
    if (fits && !isPresent) { // its slab was emptied, which changes no file's version
      throw new TakoException(
          Status.STALE_VERSION,
          "an extent of %s was moved; look at it again".formatted(request.getPath()));
    }
    if (!fits) {
      throw new TakoException(
          Status.INVALID_ARGUMENT,
          "cutting %s at %d goes through its extent at %d; say what that extent is afterwards"
              .formatted(request.getPath(), request.getLength(), extent.fileOffset()));
    }
    return FileExtent.of(asked);
  }
}
