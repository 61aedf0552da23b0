package io.takofs.server.namespace;

import io.takofs.base.TakoException;
import io.takofs.proto.Extent;
import io.takofs.proto.Reply;
import io.takofs.proto.Status;
import io.takofs.proto.Truncate;
import io.takofs.server.extent.Location;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Cutting a closed file. No byte moves: extents behind the cut are given up, the one it goes
 * through gets the length and CRCs that the caller computed and is sealed, for readers may still
 * look at what is behind.
 */
final class TruncateOperation {
  private TruncateOperation() {}

  static Reply apply(Context context, Truncate request) throws TakoException {
    FilePath path = FilePath.parse(request.getPath());
    State state = context.state();
    DirectoryEntry file = state.tree.lookupFile(path, context.caller());
    Inode inode = file.inode();
    Permissions.require(context.caller(), inode, Permissions.WRITE, path.toString());
    long lateWriter = Recovery.takeOver(context, file, path);
    long length = request.getLength();
    if (Long.compareUnsigned(length, inode.length) > 0) {
      throw new TakoException(
          Status.INVALID_ARGUMENT,
          "%s has %d bytes; it cannot be cut to %s"
              .formatted(path, inode.length, Long.toUnsignedString(length)));
    }
    if (request.getExpectedVersion() != inode.version) {
      throw new TakoException(
          Status.STALE_VERSION,
          "%s has version %d by now, not %d; look at it again"
              .formatted(path, inode.version, request.getExpectedVersion()));
    }
    if (length < inode.length) {
      state.quotas.add(
          context.tx(),
          state.quotas.over(file.parentId()),
          0,
          (length - inode.length) * inode.replication);
      if (inode.hasExtents) {
        cutExtents(context, request, inode, lateWriter);
      } else {
        cutInline(context, inode, (int) length);
      }
      inode.length = length;
      inode.hasExtents &= length > 0;
      inode.modificationMs = context.timeMs();
      inode.version++;
      state.tree.put(context.tx(), file);
    }
    return Replies.file(inode.toInfo());
  }

  private static void cutInline(Context context, Inode inode, int length) {
    FileData data = context.state().data;
    if (length == 0) {
      data.removeInline(context.tx(), inode.id);
    } else {
      data.putInline(context.tx(), inode.id, Arrays.copyOf(data.inline(inode.id), length));
    }
  }

  private static void cutExtents(Context context, Truncate request, Inode inode, long lateWriter)
      throws TakoException {
    FileData data = context.state().data;
    long length = request.getLength();
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
        Location.of(asked).equals(extent.location())
            && asked.getGeneration() == extent.generation()
            && asked.getFileOffset() == extent.fileOffset()
            && extent.fileOffset() + asked.getLength() == request.getLength();
    if (!fits) {
      throw new TakoException(
          Status.INVALID_ARGUMENT,
          "cutting %s at %d goes through its extent at %d; say what that extent is afterwards"
              .formatted(request.getPath(), request.getLength(), extent.fileOffset()));
    }
    return FileExtent.of(asked);
  }
}
