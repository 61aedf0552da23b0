package io.takofs.server.namespace.operation;

import io.takofs.base.TakoException;
import io.takofs.proto.Rename;
import io.takofs.proto.Reply;
import io.takofs.proto.Status;
import io.takofs.server.namespace.state.Context;
import io.takofs.server.namespace.state.DirectoryEntry;
import io.takofs.server.namespace.state.FilePath;
import io.takofs.server.namespace.state.Inode;
import io.takofs.server.namespace.state.Lease;
import io.takofs.server.namespace.state.Permissions;
import io.takofs.server.namespace.state.State;
import io.takofs.server.namespace.state.Walk;

/** Moving one directory entry, whatever is below it. */
public final class RenameOperation {
  private RenameOperation() {}

  public static Reply apply(Context context, Rename request) throws TakoException {
    FilePath source = FilePath.parse(request.getSource());
    FilePath target = FilePath.parse(request.getTarget());
    State state = context.state();
    if (source.isRoot()) {
      throw invalid("the root cannot be renamed");
    }
    Walk from = state.tree.walk(source, context.caller());
    DirectoryEntry moved = from.target();
    if (source.isSame(target)) {
      throw new TakoException(
          Status.ALREADY_EXISTS, "%s cannot be renamed to itself".formatted(source));
    }
    if (target.isRoot()) {
      throw invalid(source + " cannot be renamed to the root");
    }
    if (target.isBelow(source)) {
      throw invalid("%s cannot be moved below itself, to %s".formatted(source, target));
    }
    Walk to = state.tree.walk(target, context.caller());
    DirectoryEntry sourceParent = from.parent();
    DirectoryEntry targetParent = to.parent();
    from.requireRemovable(context.caller());
    Permissions.require(context.caller(), targetParent.inode(), Permissions.WRITE, to.parentPath());
    QuotaMove quotas = new QuotaMove(context, moved, sourceParent, targetParent);
    if (quotas.counting() != null) {
      return Replies.failure(QuotaOperation.counting(quotas.counting()));
    }
    try {
      if (to.isComplete()) {
        replace(context, moved, to, request.getOverwrite());
      }
      quotas.charge();
    } catch (TakoException e) {
      return quotas.fail(e);
    }
    move(context, moved, new DirectoryEntry(targetParent.inode().id, target.name(), moved.inode()));
    state.tree.touch(context.tx(), sourceParent, context.timeMs());
    state.tree.touch(context.tx(), targetParent, context.timeMs());
    return Replies.done();
  }

  private static void replace(Context context, DirectoryEntry moved, Walk to, boolean overwrite)
      throws TakoException {
    FilePath target = to.path();
    Inode replaced = to.last().inode();
    if (!overwrite) {
      throw new TakoException(
          Status.ALREADY_EXISTS, target + " exists; ask to overwrite it or choose another name");
    }
    if (moved.inode().directory && !replaced.directory) {
      throw new TakoException(
          Status.NOT_A_DIRECTORY, "a directory cannot replace the file " + target);
    }
    if (!moved.inode().directory && replaced.directory) {
      throw new TakoException(
          Status.IS_A_DIRECTORY, "a file cannot replace the directory " + target);
    }
    if (replaced.directory && !context.state().tree.isEmpty(replaced.id)) {
      throw new TakoException(Status.NOT_EMPTY, "the directory " + target + " is not empty");
    }
    to.requireRemovable(context.caller());
    if (replaced.directory) {
      Detached.directory(context, to.last(), true);
    } else {
      Detached.file(context, to.last());
    }
  }

  private static void move(Context context, DirectoryEntry from, DirectoryEntry to) {
    State state = context.state();
    state.tree.remove(context.tx(), from);
    state.locations.moved(context.tx(), to);
    state.tree.put(context.tx(), to);
    if (to.inode().directory) {
      state.tree.setParent(context.tx(), to.inode().id, to.parentId());
      state.quotas.directoryMoves();
    }
    Lease lease = state.leases.get(to.inode().id);
    if (lease != null) {
      state.leases.put(
          context.tx(),
          new Lease(lease.fileId(), lease.clientId(), lease.epoch(), to.parentId(), to.name()));
    }
  }

  private static TakoException invalid(String what) {
    return new TakoException(Status.INVALID_ARGUMENT, what);
  }
}
