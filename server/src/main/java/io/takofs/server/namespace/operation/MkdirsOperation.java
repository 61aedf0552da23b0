package io.takofs.server.namespace.operation;

import io.takofs.base.TakoException;
import io.takofs.proto.Mkdirs;
import io.takofs.proto.Reply;
import io.takofs.proto.Status;
import io.takofs.server.namespace.state.Context;
import io.takofs.server.namespace.state.DirectoryEntry;
import io.takofs.server.namespace.state.FilePath;
import io.takofs.server.namespace.state.Inode;
import io.takofs.server.namespace.state.Permissions;
import io.takofs.server.namespace.state.State;
import io.takofs.server.namespace.state.Walk;

/** Making directories, several at once; one that is there already is fine. */
public final class MkdirsOperation {
  /** The permissions that creating a path needs in its directories. */
  private static final int OWNER_WRITE_EXECUTE = 0300;

  /** Directories made by one entry, which bounds the pages it changes. */
  private static final int MADE_MAX = 60;

  /** The same of those that get an ACL. */
  private static final int MADE_WITH_ACL_MAX = 16;

  private MkdirsOperation() {}

  public static Reply apply(Context context, Mkdirs request) throws TakoException {
    FilePath path = FilePath.parse(request.getPath());
    Attributes.checkPermission(request.getPermission(), path);
    Walk walk = context.state().tree.walk(path, context.caller());
    if (walk.isComplete()) {
      if (!walk.last().inode().directory) {
        throw new TakoException(Status.ALREADY_EXISTS, path + " exists and is a file");
      }
      return Replies.done();
    }
    if (!request.getCreateParents()) {
      walk.parent();
    }
    int permission = request.getPermission();
    int unmasked = request.hasUnmaskedPermission() ? request.getUnmaskedPermission() : permission;
    Attributes.checkPermission(unmasked, path);
    Permission last = new Permission(permission, unmasked);
    Permission between =
        new Permission(
            permission | OWNER_WRITE_EXECUTE,
            request.hasUnmaskedPermission() ? unmasked : permission | OWNER_WRITE_EXECUTE);
    make(context, walk, path.depth(), between, last);
    return Replies.done();
  }

  /** Makes the missing parents of a file to be created; returns the last. */
  static DirectoryEntry makeParents(Context context, Walk walk) throws TakoException {
    int bits = (walk.deepestDirectory().inode().permission & 0777) | OWNER_WRITE_EXECUTE;
    Permission permission = new Permission(bits, bits);
    return make(context, walk, walk.path().depth() - 1, permission, permission);
  }

  /** The requested permission of a directory, with the umask applied and without. */
  private record Permission(int masked, int unmasked) {}

  /** Makes what is missing of the first {@code depth} elements; returns the last. */
  private static DirectoryEntry make(
      Context context, Walk walk, int depth, Permission between, Permission last)
      throws TakoException {
    DirectoryEntry at = walk.deepestDirectory();
    int most = DefaultAcl.isIn(at.inode()) ? MADE_WITH_ACL_MAX : MADE_MAX;
    if (walk.missing() > most) {
      throw new TakoException(
          Status.INVALID_ARGUMENT,
          "%s: %d elements are missing on the way; make at most %d with one call"
              .formatted(walk.path(), walk.missing(), most));
    }
    Permissions.require(context.caller(), at.inode(), Permissions.WRITE, walk.lastPath());
    State state = context.state();
    int missing = depth + 1 - walk.found().size();
    state.quotas.charge(context, state.quotas.over(at), missing, 0);
    for (int element = walk.found().size() - 1; element < depth; element++) {
      Permission permission = element == depth - 1 ? last : between;
      Inode parent = at.inode();
      Inode made =
          Inode.directory(
              context.ids().next(parent.id),
              permission.masked,
              context.caller().getUser(),
              parent.group,
              context.timeMs());
      if (DefaultAcl.isIn(parent)) {
        DefaultAcl.inherit(context, parent, made, permission.unmasked);
      }
      state.tree.touch(context.tx(), at, context.timeMs());
      at = new DirectoryEntry(parent.id, walk.path().name(element), made);
      state.tree.put(context.tx(), at);
      state.count(context.tx(), made, 1);
    }
    return at;
  }
}
