package io.takofs.hadoop.internal;

import io.takofs.client.Acls;
import io.takofs.proto.AclScope;
import io.takofs.proto.AclType;
import java.io.IOException;
import java.util.List;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.permission.AclEntry;
import org.apache.hadoop.fs.permission.AclEntryScope;
import org.apache.hadoop.fs.permission.AclEntryType;
import org.apache.hadoop.fs.permission.AclStatus;
import org.apache.hadoop.fs.permission.FsAction;
import org.apache.hadoop.fs.permission.FsPermission;

/**
 * ACLs. Paths are qualified.
 *
 * <p>Thread rule: any thread.
 */
public final class AclOperations {
  private final Acls acls;

  AclOperations(Acls acls) {
    this.acls = acls;
  }

  public void modify(Path path, List<AclEntry> entries) throws IOException {
    change(path, name -> acls.modify(name, sent(entries)));
  }

  public void removeEntries(Path path, List<AclEntry> entries) throws IOException {
    change(path, name -> acls.removeEntries(name, sent(entries)));
  }

  public void removeDefault(Path path) throws IOException {
    change(path, acls::removeDefault);
  }

  public void remove(Path path) throws IOException {
    change(path, acls::remove);
  }

  public void replace(Path path, List<AclEntry> entries) throws IOException {
    change(path, name -> acls.replace(name, sent(entries)));
  }

  public AclStatus status(Path path) throws IOException {
    io.takofs.proto.AclStatus status = Call.to(path, acls::get);
    FsPermission permission = new FsPermission((short) status.getPermission());
    return new AclStatus.Builder()
        .owner(status.getOwner())
        .group(status.getGroup())
        .setPermission(permission)
        .stickyBit(permission.getStickyBit())
        .addEntries(status.getEntriesList().stream().map(AclOperations::received).toList())
        .build();
  }

  /** A change of the file or directory at a path. */
  @FunctionalInterface
  private interface Change {
    void of(String name) throws IOException;
  }

  private static void change(Path path, Change change) throws IOException {
    Call.to(
        path,
        name -> {
          change.of(name);
          return null;
        });
  }

  // ---- entries

  private static List<io.takofs.proto.AclEntry> sent(List<AclEntry> entries) {
    return entries.stream().map(AclOperations::sent).toList();
  }

  private static io.takofs.proto.AclEntry sent(AclEntry entry) {
    FsAction permission = entry.getPermission(); // none in an entry that is to be removed
    return io.takofs.proto.AclEntry.newBuilder()
        .setScope(entry.getScope() == AclEntryScope.DEFAULT ? AclScope.DEFAULT : AclScope.ACCESS)
        .setType(AclType.valueOf(entry.getType().name()))
        .setName(entry.getName() == null ? "" : entry.getName())
        .setPermission(permission == null ? 0 : AccessBits.of(permission))
        .build();
  }

  private static AclEntry received(io.takofs.proto.AclEntry entry) {
    AclEntry.Builder received =
        new AclEntry.Builder()
            .setScope(
                entry.getScope() == AclScope.DEFAULT ? AclEntryScope.DEFAULT : AclEntryScope.ACCESS)
            .setType(AclEntryType.valueOf(entry.getType().name()))
            .setPermission(AccessBits.action(entry.getPermission()));
    return entry.getName().isEmpty() ? received.build() : received.setName(entry.getName()).build();
  }
}
