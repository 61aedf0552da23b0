package io.takofs.server.namespace.operation;

import io.takofs.base.TakoException;
import io.takofs.proto.RecoverLease;
import io.takofs.proto.Reply;
import io.takofs.server.namespace.state.Context;
import io.takofs.server.namespace.state.DirectoryEntry;
import io.takofs.server.namespace.state.FilePath;
import io.takofs.server.namespace.state.Permissions;

/** Closing a file that another client has open, at what it committed, at once. */
public final class RecoverLeaseOperation {
  private RecoverLeaseOperation() {}

  public static Reply apply(Context context, RecoverLease request) throws TakoException {
    FilePath path = FilePath.parse(request.getPath());
    DirectoryEntry file = context.state().tree.lookupFile(path, context.caller());
    Permissions.require(context.caller(), file.inode(), Permissions.WRITE, path.toString());
    if (file.inode().open) {
      Recovery.close(context, file);
    }
    return Replies.done();
  }
}
