package io.takofs.server.namespace.operation;

import com.google.protobuf.ByteString;
import io.takofs.base.TakoException;
import io.takofs.proto.Append;
import io.takofs.proto.OpenedFile;
import io.takofs.proto.Reply;
import io.takofs.server.namespace.state.Context;
import io.takofs.server.namespace.state.DirectoryEntry;
import io.takofs.server.namespace.state.FileExtent;
import io.takofs.server.namespace.state.FilePath;
import io.takofs.server.namespace.state.Inode;
import io.takofs.server.namespace.state.Permissions;
import io.takofs.server.namespace.state.State;
import java.util.List;

/** Opening a file to write at its end. */
public final class AppendOperation {
  private AppendOperation() {}

  public static Reply apply(Context context, Append request) throws TakoException {
    FilePath path = FilePath.parse(request.getPath());
    State state = context.state();
    DirectoryEntry file = state.tree.lookupFile(path, context.caller());
    Inode inode = file.inode();
    Permissions.require(context.caller(), inode, Permissions.WRITE, path.toString());
    if (inode.length > 0) { // the reply has small data, and says where the last bytes of others are
      XAttrOperation.requireReadable(state, context.caller(), inode, path.toString());
    }
    boolean mayGrow = Recovery.takeOver(context, file, path) == 0;
    FileExtent last = state.data.last(inode);
    boolean grows = last != null && last.canGrow() && mayGrow;
    if (grows && !state.slabs().isOpen(last.range().slab())) {
      // Nobody writes in a closed slab, nor goes on in this extent when the slab opens again.
      state.data.put(context.tx(), inode.id, last.seal(0));
      grows = false;
    }
    List<Long> quotas = state.quotas.over(file.parentId());
    if (grows) {
      int growth = last.range().capacity() - last.length();
      state.quotas.charge(context, quotas, 0, (long) growth * inode.replication);
    }
    OpenedFile.Builder opened = Opening.open(context, file, quotas, request.getGrantBytes());
    if (grows) {
      opened.setLastExtent(last.toProto(context.index()));
    }
    return Reply.newBuilder().setOpenedFile(opened).build();
  }

  /**
   * The reply with the data of a small file, which is not recorded with it: a record has no room,
   * and the data cannot have changed for a caller that still holds the lease.
   */
  public static Reply complete(State state, Reply reply) {
    OpenedFile opened = reply.getOpenedFile();
    if (opened.getFile().getLength() == 0) {
      return reply;
    }
    byte[] data = state.data.inline(opened.getFile().getId());
    return data.length == 0
        ? reply
        : reply.toBuilder()
            .setOpenedFile(opened.toBuilder().setInlineData(ByteString.copyFrom(data)))
            .build();
  }
}
