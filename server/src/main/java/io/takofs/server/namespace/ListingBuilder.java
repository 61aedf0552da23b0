package io.takofs.server.namespace;

import com.google.protobuf.CodedOutputStream;
import com.google.protobuf.UnsafeByteOperations;
import io.takofs.proto.Listing;
import java.util.HashMap;
import java.util.Map;

/**
 * Collects a page of entries that fits a reply.
 *
 * <p>Thread rule: one thread.
 */
final class ListingBuilder {
  /** Tag and length of a name or a principal, and one byte of each column that holds bools. */
  private static final int STRING_OVERHEAD = 4;

  private static final int BOOLS = 2;

  /** An index of an entry. */
  private static final int INDEX_MAX = 3;

  private final Listing.Builder listing = Listing.newBuilder();
  private final Map<String, Integer> principals = new HashMap<>();
  private final int limit;
  private int room;
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
    room -=
        STRING_OVERHEAD
            + name.length
            + BOOLS
            + Long.BYTES
            + CodedOutputStream.computeUInt64SizeNoTag(inode.length)
            + CodedOutputStream.computeUInt32SizeNoTag(inode.permission)
            + CodedOutputStream.computeUInt32SizeNoTag(owner)
            + CodedOutputStream.computeUInt32SizeNoTag(group)
            + CodedOutputStream.computeInt64SizeNoTag(modificationMs)
            + CodedOutputStream.computeInt64SizeNoTag(inode.accessMs)
            + CodedOutputStream.computeUInt32SizeNoTag(inode.replication)
            + CodedOutputStream.computeUInt64SizeNoTag(inode.blockSize)
            + CodedOutputStream.computeUInt64SizeNoTag(inode.version);
    if (room < (inode.hasAcl ? INDEX_MAX : 0) || listing.getNamesCount() == limit) {
      listing.setMore(true);
      return false;
    }
    if (inode.hasAcl) {
      room -= INDEX_MAX;
      listing.addWithAcl(listing.getNamesCount());
    }
    listing
        .addNamesBytes(UnsafeByteOperations.unsafeWrap(name)) // nobody changes it
        .addDirectories(inode.directory)
        .addUnderConstruction(inode.open)
        .addIds(inode.id)
        .addLengths(inode.length)
        .addPermissions(inode.permission)
        .addOwners(owner)
        .addGroups(group)
        .addModificationTimesMs(modificationMs)
        .addAccessTimesMs(inode.accessMs)
        .addReplications(inode.replication)
        .addBlockSizes(inode.blockSize)
        .addVersions(inode.version);
    return true;
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
    return listing;
  }
}
