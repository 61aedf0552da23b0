package io.takofs.server.namespace.operation;

import io.takofs.base.TakoException;
import io.takofs.proto.AclEntry;
import io.takofs.proto.AclScope;
import io.takofs.proto.AclType;
import io.takofs.proto.Reply;
import io.takofs.proto.SetAcl;
import io.takofs.server.namespace.state.Context;
import io.takofs.server.namespace.state.DirectoryEntry;
import io.takofs.server.namespace.state.FilePath;
import io.takofs.server.namespace.state.Inode;
import io.takofs.server.namespace.state.Permissions;
import java.util.List;

/** Changing the ACL of a file or directory, which its owner and the superuser may. */
public final class SetAclOperation {
  private SetAclOperation() {}

  public static Reply apply(Context context, SetAcl request) throws TakoException {
    FilePath path = FilePath.parse(request.getPath());
    DirectoryEntry entry = context.state().tree.lookup(path, context.caller());
    Inode inode = entry.inode();
    Permissions.requireOwner(context.caller(), inode, path.toString());
    List<AclEntry> after = changed(request, AclPermission.get(inode));
    if (!inode.directory && after.stream().anyMatch(SetAclOperation::isDefault)) {
      throw AclRules.invalid("only directories may have a default ACL. Path: " + path);
    }
    AclPermission.set(context, inode, after);
    context.state().tree.put(context.tx(), entry);
    return Replies.done();
  }

  private static List<AclEntry> changed(SetAcl request, List<AclEntry> before)
      throws TakoException {
    List<AclEntry> said = request.getEntriesList();
    return switch (request.getChange()) {
      case MODIFY -> AclRules.modify(before, said);
      case REMOVE_ENTRIES -> AclRules.remove(before, said);
      case REMOVE_DEFAULT -> AclRules.removeDefault(before);
      case REMOVE -> minimal(before);
      case REPLACE -> said.isEmpty() ? minimal(before) : AclRules.replace(before, said);
      case NONE, UNRECOGNIZED ->
          throw AclRules.invalid("it is not said what is to be done with it");
    };
  }

  /** Owner, group and other: the mask goes, so that the group gets back what it limited. */
  private static List<AclEntry> minimal(List<AclEntry> before) {
    return before.stream()
        .filter(
            entry ->
                !isDefault(entry) && entry.getName().isEmpty() && entry.getType() != AclType.MASK)
        .toList();
  }

  private static boolean isDefault(AclEntry entry) {
    return entry.getScope() == AclScope.DEFAULT;
  }
}
