package io.takofs.server.namespace.operation;

import io.takofs.proto.AclEntry;
import io.takofs.proto.AclScope;
import io.takofs.proto.AclType;
import io.takofs.server.namespace.state.AclTable;
import io.takofs.server.namespace.state.Context;
import io.takofs.server.namespace.state.Inode;
import java.util.ArrayList;
import java.util.List;

/**
 * An inode's whole ACL and how it is divided: owner, other and mask (or group, when there is no
 * mask) stand in the permission bits, the rest is {@link Inode#acl}.
 */
final class AclPermission {
  /** Entries of a scope that says no more than permission bits can: owner, group, other. */
  static final int MINIMAL = 3;

  private AclPermission() {}

  /** All entries of {@code inode}, in order. */
  static List<AclEntry> get(Inode inode) {
    List<AclEntry> all = new ArrayList<>(inode.acl());
    boolean extended = AclTable.hasAccess(inode.acl());
    add(all, AclType.USER, inode.permission >>> 6);
    add(all, extended ? AclType.MASK : AclType.GROUP, inode.permission >>> 3);
    add(all, AclType.OTHER, inode.permission);
    all.sort(AclRules.ORDER);
    return all;
  }

  private static void add(List<AclEntry> all, AclType type, int permission) {
    all.add(AclRules.unnamed(AclScope.ACCESS, type, permission & 7));
  }

  /**
   * Makes {@code entries}, all of them in order, the ACL of {@code inode}, which is stored after.
   */
  static void set(Context context, Inode inode, List<AclEntry> entries) {
    List<AclEntry> access =
        entries.stream().filter(entry -> entry.getScope() == AclScope.ACCESS).toList();
    List<AclEntry> kept = new ArrayList<>();
    if (access.size() > MINIMAL) {
      kept.addAll(access.subList(1, access.size() - 2));
    }
    kept.addAll(entries.subList(access.size(), entries.size()));
    int user = access.get(0).getPermission();
    int maskOrGroup = access.get(access.size() - 2).getPermission();
    int other = access.get(access.size() - 1).getPermission();
    inode.permission = (inode.permission & ~0777) | (user << 6) | (maskOrGroup << 3) | other;
    context.state().acls.set(context.tx(), inode, List.copyOf(kept));
  }
}
