package io.takofs.server.namespace.operation;

import com.google.protobuf.UnsafeByteOperations;
import io.takofs.proto.Listing;
import io.takofs.server.codec.ByteWriter;
import io.takofs.server.namespace.state.Inode;
import java.util.HashMap;
import java.util.Map;

/**
 * Collects a page of entries that fits a reply.
 *
 * <p>Thread rule: one thread.
 */
final class ListingBuilder {
  /** An entry without its name, bytes, at most. */
  private static final int ENTRY_MAX = 80;

  /** Tag and length of a principal. */
  private static final int STRING_OVERHEAD = 4;

  private static final int DIRECTORY = 1;
  private static final int UNDER_CONSTRUCTION = 2;
  private static final int HAS_ACL = 4;

  private final Listing.Builder listing = Listing.newBuilder();
  private final ByteWriter entries = new ByteWriter(1024);
  private final Map<String, Integer> principals = new HashMap<>();
  private final int limit;
  private int room;
  private int count;
  private String lastOwner;
  private String lastGroup;
  private int lastOwnerIndex;
  private int lastGroupIndex;

  /**
   * An empty page.
   *
   * @param room bytes it may take
   * @param limit entries it may have
   */
  ListingBuilder(int room, int limit) {
    this.room = room;
    this.limit = limit;
  }

  /** Adds an entry; false, and the page says that there is more, when it does not fit. */
  boolean add(byte[] name, Inode inode, long modificationMs) {
    int owner = ownerOf(inode);
    int group = groupOf(inode);
    if (count == limit || entries.size() + ENTRY_MAX + name.length > room) {
      listing.setMore(true);
      return false;
    }
    count++;
    entries
        .variable(flags(inode))
        .sized(name)
        .u64(Long.reverseBytes(inode.id)) // fixed64 begins with the low byte
        .variable(inode.permission)
        .variable(owner)
        .variable(group)
        .signed(modificationMs)
        .signed(inode.accessMs - modificationMs)
        .variable(inode.length)
        .variable(inode.replication)
        .variable(inode.blockSize)
        .variable(inode.version);
    return true;
  }

  private static int flags(Inode inode) {
    return (inode.directory ? DIRECTORY : 0)
        | (inode.open ? UNDER_CONSTRUCTION : 0)
        | (inode.hasAcl ? HAS_ACL : 0);
  }

  /** Most entries of a directory have the owner and group of the one before. */
  private int ownerOf(Inode inode) {
    if (!inode.owner.equals(lastOwner)) {
      lastOwner = inode.owner;
      lastOwnerIndex = principal(lastOwner);
    }
    return lastOwnerIndex;
  }

  private int groupOf(Inode inode) {
    if (!inode.group.equals(lastGroup)) {
      lastGroup = inode.group;
      lastGroupIndex = principal(lastGroup);
    }
    return lastGroupIndex;
  }

  private int principal(String name) {
    Integer known = principals.get(name);
    if (known != null) {
      return known;
    }
    int index = principals.size();
    principals.put(name, index);
    listing.addPrincipals(name);
    room -= STRING_OVERHEAD + 3 * name.length(); // UTF-8 takes three bytes a char at most
    return index;
  }

  Listing.Builder build() {
    return listing.setEntries(UnsafeByteOperations.unsafeWrap(entries.toBytes())); // ours alone
  }
}
