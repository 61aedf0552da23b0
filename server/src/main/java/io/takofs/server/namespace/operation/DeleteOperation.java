package io.takofs.server.namespace.operation;

import io.takofs.base.TakoException;
import io.takofs.proto.Delete;
import io.takofs.proto.Reply;
import io.takofs.proto.Status;
import io.takofs.server.namespace.state.Context;
import io.takofs.server.namespace.state.DirectoryEntry;
import io.takofs.server.namespace.state.FilePath;
import io.takofs.server.namespace.state.Inode;
import io.takofs.server.namespace.state.Permissions;
import io.takofs.server.namespace.state.State;
import io.takofs.server.namespace.state.Walk;

/**
 * Removing one directory entry; what is below it goes later. As that is not looked at, deleting a
 * directory that is not empty takes all permissions on that directory and none on those below.
 */
public final class DeleteOperation {
  private DeleteOperation() {}

  public static Reply apply(Context context, Delete request) throws TakoException {
    FilePath path = FilePath.parse(request.getPath());
    if (path.isRoot()) {
      throw new TakoException(Status.INVALID_ARGUMENT, "the root cannot be deleted");
    }
    State state = context.state();
    Walk walk = state.tree.walk(path, context.caller());
    DirectoryEntry entry = walk.target();
    Inode inode = entry.inode();
    DirectoryEntry parent = walk.parent();
    boolean empty = !inode.directory || state.tree.isEmpty(inode.id);
    if (!empty && !request.getRecursive()) {
      throw new TakoException(Status.NOT_EMPTY, path + " is not empty; ask for a recursive delete");
    }
    walk.requireRemovable(context.caller());
    if (!empty) {
      Permissions.require(
          context.caller(),
          inode,
          Permissions.READ | Permissions.WRITE | Permissions.EXECUTE,
          path.toString());
    }
    state.tree.remove(context.tx(), entry);
    state.tree.touch(context.tx(), parent, context.timeMs());
    if (inode.directory) {
      Detached.directory(context, entry, empty);
    } else {
      Detached.file(context, entry);
    }
    return Replies.done();
  }
}
