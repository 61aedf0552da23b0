package io.takofs.server.namespace.operation;

import io.takofs.proto.AclEntry;
import io.takofs.proto.AclScope;
import io.takofs.proto.AclType;
import io.takofs.server.namespace.state.Context;
import io.takofs.server.namespace.state.Inode;
import java.util.ArrayList;
import java.util.List;

/**
 * The ACL that a new inode inherits from its directory: the directory's default entries are its
 * access entries, cut down to what its maker asked for, without the umask; a new directory has them
 * as default entries too. Without a default ACL the maker's umask counts.
 */
final class DefaultAcl {
  private DefaultAcl() {}

  /** Whether what is made in {@code directory} gets an ACL. */
  static boolean isIn(Inode directory) {
    List<AclEntry> acl = directory.acl();
    return !acl.isEmpty() && acl.get(acl.size() - 1).getScope() == AclScope.DEFAULT;
  }

  /**
   * Sets permission and ACL of {@code child}, which the caller stores.
   *
   * @param asked permission that the maker wants, before the umask
   */
  static void inherit(Context context, Inode parent, Inode child, int asked) {
    List<AclEntry> defaults =
        parent.acl().stream().filter(entry -> entry.getScope() == AclScope.DEFAULT).toList();
    boolean minimal = defaults.size() == AclPermission.MINIMAL;
    List<AclEntry> acl = new ArrayList<>();
    for (AclEntry entry : defaults) {
      int cut = cut(entry, minimal, asked);
      acl.add(
          entry.toBuilder()
              .setScope(AclScope.ACCESS)
              .setPermission(entry.getPermission() & cut)
              .build());
    }
    if (child.directory) {
      acl.addAll(defaults);
    }
    child.permission = asked;
    AclPermission.set(context, child, acl);
  }

  /** The bits of {@code asked} that limit what a child's entry allows. */
  private static int cut(AclEntry entry, boolean minimal, int asked) {
    boolean named = !entry.getName().isEmpty();
    if (entry.getType() == AclType.OTHER) {
      return asked;
    }
    if (entry.getType() == AclType.USER && !named) {
      return asked >>> 6;
    }
    boolean limitsGroup = entry.getType() == AclType.MASK || (minimal && !named);
    return limitsGroup ? asked >>> 3 : 7;
  }
}
