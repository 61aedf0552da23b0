package io.takofs.server.namespace.state;

import com.google.protobuf.InvalidProtocolBufferException;
import io.takofs.proto.AclEntry;
import io.takofs.proto.AclScope;
import io.takofs.proto.AclStatus;
import io.takofs.server.namespace.operation.AclRules;
import io.takofs.server.store.OrderedMap;
import io.takofs.server.store.Store;
import io.takofs.server.store.Transaction;
import java.util.List;

/**
 * The ACLs of inodes: beside a file's data, under the inode's id, and nothing for an inode without
 * one. The permission bits are not stored twice: of access entries only those for users and groups
 * by name and the group's own, of default entries all, in {@link AclRules#ORDER}.
 *
 * <p>Thread rule: the state machine's thread.
 */
public final class AclTable {
  private final Store store;

  AclTable(Store store) {
    this.store = store;
  }

  /** The entries kept for the inode {@code id}, which has some. */
  List<AclEntry> read(long id) {
    try {
      return AclStatus.parseFrom(Pieces.get(map(id), key(id))).getEntriesList();
    } catch (InvalidProtocolBufferException e) {
      throw new IllegalStateException("a stored ACL does not parse", e);
    }
  }

  /** Keeps {@code entries}, maybe none, for {@code inode}, which the caller stores. */
  public void set(Transaction tx, Inode inode, List<AclEntry> entries) {
    if (!entries.isEmpty()) {
      byte[] value = AclStatus.newBuilder().addAllEntries(entries).build().toByteArray();
      Pieces.put(tx, map(inode.id), key(inode.id), value);
    } else if (inode.hasAcl) {
      remove(tx, inode);
    }
    inode.setAcl(entries);
  }

  /** The inode goes. */
  public void remove(Transaction tx, Inode inode) {
    if (inode.hasAcl) {
      Pieces.remove(tx, map(inode.id), key(inode.id));
    }
  }

  /** Whether {@code acl} says something of the inode itself. */
  public static boolean hasAccess(List<AclEntry> acl) {
    return !acl.isEmpty() && acl.get(0).getScope() == AclScope.ACCESS;
  }

  private static byte[] key(long id) {
    return Keys.of(Keys.ACL, id);
  }

  private OrderedMap map(long id) {
    return store.shard(Ids.birthShard(id));
  }
}
