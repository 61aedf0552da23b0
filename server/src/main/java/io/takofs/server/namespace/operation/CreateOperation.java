package io.takofs.server.namespace.operation;

import io.takofs.base.TakoException;
import io.takofs.proto.Create;
import io.takofs.proto.OpenedFile;
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
import java.util.List;

/**
 * Making a file, open for writing. Overwriting replaces whatever file is there, open or not, by a
 * new one: the old one's readers keep what they have, its writer loses its lease.
 */
public final class CreateOperation {
  private CreateOperation() {}

  public static Reply apply(Context context, Create request) throws TakoException {
    FilePath path = FilePath.parse(request.getPath());
    Attributes.checkPermission(request.getPermission(), path);
    State state = context.state();
    Walk walk = state.tree.walk(path, context.caller());
    if (walk.isComplete()) {
      checkReplaceable(context, walk, request.getOverwrite());
    }
    List<Long> quotas =
        state.quotas.over(walk.isComplete() ? walk.parent() : walk.deepestDirectory());
    DirectoryEntry parent = parent(context, walk, request.getCreateParents());
    Inode inode = newInode(context, request, parent.inode(), path);
    if (walk.isComplete()) {
      Detached.file(context, walk.last());
    }
    state.quotas.charge(context, quotas, 1, 0);
    DirectoryEntry entry = new DirectoryEntry(parent.inode().id, path.name(), inode);
    state.tree.touch(context.tx(), parent, context.timeMs());
    state.count(context.tx(), inode, 1);
    OpenedFile.Builder opened = Opening.open(context, entry, quotas, request.getGrantBytes());
    return Reply.newBuilder().setOpenedFile(opened).build();
  }

  private static void checkReplaceable(Context context, Walk walk, boolean overwrite)
      throws TakoException {
    Inode existing = walk.last().inode();
    if (existing.directory) {
      throw new TakoException(Status.ALREADY_EXISTS, walk.path() + " exists and is a directory");
    }
    if (!overwrite) {
      Lease lease = context.state().leases.get(existing.id);
      if (lease != null
          && lease.clientId() != context.clientId()
          && !context.isLapsed(lease.clientId())) {
        throw new TakoException(
            Status.LEASE_HELD, walk.path() + " exists and another client writes it");
      }
      throw new TakoException(
          Status.ALREADY_EXISTS, walk.path() + " exists; overwrite it or choose another name");
    }
    Permissions.require(context.caller(), existing, Permissions.WRITE, walk.path().toString());
  }

  private static DirectoryEntry parent(Context context, Walk walk, boolean createParents)
      throws TakoException {
    if (walk.missing() > 1 && createParents) {
      return MkdirsOperation.makeParents(context, walk);
    }
    DirectoryEntry parent = walk.parent();
    Permissions.require(context.caller(), parent.inode(), Permissions.WRITE, walk.parentPath());
    return parent;
  }

  private static Inode newInode(Context context, Create request, Inode parent, FilePath path)
      throws TakoException {
    Inode inode = new Inode();
    inode.id = context.ids().next(parent.id);
    inode.permission = request.getPermission();
    inode.owner = context.caller().getUser();
    inode.group = parent.group;
    inode.modificationMs = context.timeMs();
    inode.accessMs = context.timeMs();
    inode.replication = Opening.replication(context.state(), request);
    inode.blockSize =
        request.getBlockSize() == 0 ? context.state().limits().blockSize() : request.getBlockSize();
    inode.version = 1;
    Attributes.checkReplication(inode.replication, path);
    Attributes.checkBlockSize(inode.blockSize, path);
    if (DefaultAcl.isIn(parent)) {
      int asked =
          request.hasUnmaskedPermission()
              ? request.getUnmaskedPermission()
              : request.getPermission();
      Attributes.checkPermission(asked, path);
      DefaultAcl.inherit(context, parent, inode, asked);
    }
    return inode;
  }
}
