package io.takofs.server.namespace.state;

import io.takofs.base.TakoException;
import io.takofs.proto.AclEntry;
import io.takofs.proto.AclScope;
import io.takofs.proto.AclType;
import io.takofs.proto.Caller;
import io.takofs.proto.Status;

/**
 * Permission checks: owner, group, other, or the ACL; the sticky bit; the superuser may everything.
 */
public final class Permissions {
  public static final int READ = 4;
  public static final int WRITE = 2;
  public static final int EXECUTE = 1;

  /** All bits that a permission may have. */
  public static final int MASK = 07777;

  private static final int STICKY = 01000;
  private static final String[] ACCESS = {
    "reach",
    "traverse",
    "write to",
    "write to and traverse",
    "read",
    "list",
    "read and write",
    "change all of"
  };

  private Permissions() {}

  public static boolean allows(Caller caller, Inode inode, int access) {
    if (caller.getSuperuser()) {
      return true;
    }
    if (inode.hasAcl && !caller.getUser().equals(inode.owner) && AclTable.hasAccess(inode.acl())) {
      return aclAllows(caller, inode, access);
    }
    int granted;
    if (caller.getUser().equals(inode.owner)) {
      granted = inode.permission >>> 6;
    } else if (caller.getGroupsList().contains(inode.group)) {
      granted = inode.permission >>> 3;
    } else {
      granted = inode.permission;
    }
    return (granted & access) == access;
  }

  /**
   * The rights that an ACL gives to users other than the owner: an entry for the user decides; else
   * one of those for his groups must allow all that is asked, and only who is in none of them is
   * any other. The permission's group bits are the mask of all but that.
   */
  private static boolean aclAllows(Caller caller, Inode inode, int access) {
    int mask = inode.permission >>> 3;
    boolean member = false;
    for (AclEntry entry : inode.acl()) {
      if (entry.getScope() != AclScope.ACCESS) {
        break;
      }
      boolean allowed = (entry.getPermission() & mask & access) == access;
      if (entry.getType() == AclType.USER) {
        if (entry.getName().equals(caller.getUser())) {
          return allowed;
        }
      } else {
        String group = entry.getName().isEmpty() ? inode.group : entry.getName();
        if (caller.getGroupsList().contains(group)) {
          if (allowed) {
            return true;
          }
          member = true;
        }
      }
    }
    return !member && (inode.permission & access) == access;
  }

  /** {@code path} is for the message. */
  public static void require(Caller caller, Inode inode, int access, String path)
      throws TakoException {
    if (!allows(caller, inode, access)) {
      throw denied(caller, ACCESS[access], inode, path);
    }
  }

  /** Of a sticky directory only the owners of the directory or of the entry may move the entry. */
  public static void requireNotStuck(Caller caller, Inode parent, Inode inode, String path)
      throws TakoException {
    boolean free =
        (parent.permission & STICKY) == 0
            || caller.getSuperuser()
            || caller.getUser().equals(parent.owner)
            || caller.getUser().equals(inode.owner);
    if (!free) {
      throw denied(caller, "move or delete out of a sticky directory", inode, path);
    }
  }

  public static void requireOwner(Caller caller, Inode inode, String path) throws TakoException {
    if (!caller.getSuperuser() && !caller.getUser().equals(inode.owner)) {
      throw denied(caller, "change the attributes of", inode, path);
    }
  }

  /** A sticky directory is everybody's to write to, but its attributes are its owner's. */
  public static void requireXAttrChange(Caller caller, Inode inode, String path)
      throws TakoException {
    if (inode.directory && (inode.permission & STICKY) != 0) {
      requireOwner(caller, inode, path);
    } else {
      require(caller, inode, WRITE, path);
    }
  }

  private static TakoException denied(Caller caller, String what, Inode inode, String path) {
    return new TakoException(
        Status.PERMISSION_DENIED,
        "user %s may not %s %s (owner %s, group %s, mode %s%04o%s)"
            .formatted(
                caller.getUser(),
                what,
                path,
                inode.owner,
                inode.group,
                inode.directory ? "d" : "-",
                inode.permission,
                inode.hasAcl ? " and an ACL" : ""));
  }
}
