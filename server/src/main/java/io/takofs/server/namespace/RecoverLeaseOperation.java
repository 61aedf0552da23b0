package io.takofs.server.namespace;

import io.takofs.base.TakoException;
import io.takofs.proto.RecoverLease;
import io.takofs.proto.Reply;

/** Closing a file that another client has open, at what it committed, at once. */
final class RecoverLeaseOperation {
  private RecoverLeaseOperation() {}

  static Reply apply(Context context, RecoverLease request) throws TakoException {
    FilePath path = FilePath.parse(request.getPath());
    DirectoryEntry file = context.state().tree.lookupFile(path, context.caller());
    Permissions.require(context.caller(), file.inode(), Permissions.WRITE, path.toString());
    if (file.inode().open) {
      Recovery.close(context, file);
    }
    return Replies.done();
  }
}
