package io.takofs.server.namespace.operation;

import io.takofs.base.TakoException;
import io.takofs.proto.Caller;
import io.takofs.proto.Reply;
import io.takofs.proto.SetAttributes;
import io.takofs.proto.Status;
import io.takofs.server.namespace.state.Context;
import io.takofs.server.namespace.state.DirectoryEntry;
import io.takofs.server.namespace.state.FilePath;
import io.takofs.server.namespace.state.Inode;
import io.takofs.server.namespace.state.Permissions;
import io.takofs.server.namespace.state.QuotaTable;
import io.takofs.server.namespace.state.State;

/** Permission, owner, group, times and replication: all that are given, or none. */
public final class SetAttributesOperation {
  private SetAttributesOperation() {}

  public static Reply apply(Context context, SetAttributes request) throws TakoException {
    FilePath path = FilePath.parse(request.getPath());
    State state = context.state();
    DirectoryEntry entry = state.tree.lookup(path, context.caller());
    Inode inode = entry.inode();
    check(context.caller(), request, inode, path);
    if (request.hasPermission()) {
      inode.permission = request.getPermission();
    }
    if (request.hasOwner()) {
      inode.owner = request.getOwner();
    }
    if (request.hasGroup()) {
      inode.group = request.getGroup();
    }
    if (request.hasReplication()) {
      long spaceBefore = QuotaTable.space(state, inode);
      int copiesBefore = state.limits().copies(inode.replication);
      inode.replication = request.getReplication();
      MoveOperation.ask(context, entry, copiesBefore);
      state.quotas.charge(
          context,
          state.quotas.over(entry.parentId()),
          0,
          QuotaTable.space(state, inode) - spaceBefore);
    }
    if (request.hasAccessTimeMs()) {
      inode.accessMs = request.getAccessTimeMs();
    }
    if (request.hasModificationTimeMs()) {
      inode.modificationMs = request.getModificationTimeMs();
      if (inode.directory) {
        state.tree.touch(context.tx(), entry, inode.modificationMs);
      }
    }
    state.tree.put(context.tx(), entry);
    return Replies.file(request.hasModificationTimeMs() ? inode.toInfo() : state.tree.info(inode));
  }

  private static void check(Caller caller, SetAttributes request, Inode inode, FilePath path)
      throws TakoException {
    if (request.hasPermission()) {
      Attributes.checkPermission(request.getPermission(), path);
      Permissions.requireOwner(caller, inode, path.toString());
    }
    if (request.hasOwner()) {
      Attributes.checkPrincipal(request.getOwner(), "owner");
      Permissions.requireOwner(caller, inode, path.toString());
      if (!caller.getSuperuser() && !request.getOwner().equals(inode.owner)) {
        throw denied("only the superuser may give %s to another owner", path);
      }
    }
    if (request.hasGroup()) {
      Attributes.checkPrincipal(request.getGroup(), "group");
      Permissions.requireOwner(caller, inode, path.toString());
      if (!caller.getSuperuser() && !caller.getGroupsList().contains(request.getGroup())) {
        throw denied("the owner of %s is not in the group it is to have", path);
      }
    }
    if (request.hasModificationTimeMs() || request.hasAccessTimeMs()) {
      Permissions.require(caller, inode, Permissions.WRITE, path.toString());
    }
    if (request.hasReplication()) {
      if (inode.directory) {
        throw new TakoException(
            Status.IS_A_DIRECTORY, path + " is a directory; only files have a replication");
      }
      Attributes.checkReplication(request.getReplication(), path);
      Permissions.require(caller, inode, Permissions.WRITE, path.toString());
    }
  }

  private static TakoException denied(String format, FilePath path) {
    return new TakoException(Status.PERMISSION_DENIED, format.formatted(path));
  }
}
