package io.takofs.server.namespace.state;

import io.takofs.server.codec.ByteReader;
import io.takofs.server.codec.ByteWriter;
import io.takofs.server.namespace.operation.QuotaCount;

/** The keys of stored records: a letter, then ids, big-endian, then a name. */
public final class Keys {
  /** In the shard of a directory's contents: parent id, name; the value is an {@link Inode}. */
  public static final byte ENTRY = 'D';

  /**
   * Beside a directory's entries: directory id; the value is when they last changed, and its
   * parent.
   */
  public static final byte CONTENTS = 'M';

  /** In the shard of a file's birth: file id, file offset; the value is a {@link FileExtent}. */
  public static final byte EXTENT = 'E';

  /** In the shard of a file's birth: file id; the value is the file's whole data. */
  public static final byte INLINE = 'I';

  /** In the shard of a file's birth: file id; the value is a {@link Lease}. */
  public static final byte LEASE = 'L';

  /** In the shard of an inode's birth: its id, piece; the value is the ACL ({@link AclTable}). */
  public static final byte ACL = 'A';

  /**
   * In the shard of an inode's birth: its id, attribute, piece; the value is {@link XAttrTable}'s.
   */
  public static final byte XATTR = 'Y';

  /** In the shard of a file's birth: file id; the value says where a renamed file is. */
  public static final byte LOCATION = 'P';

  /** In the server's map: client id. */
  public static final byte SESSION = 'S';

  /** In the server's map: client id, sequence. */
  public static final byte RESULT = 'C';

  /** In the server's map: id of what was detached. */
  public static final byte DETACHED = 'R';

  /** In the server's map: id of a directory; the value is a {@link Quota}. */
  public static final byte QUOTA = 'Q';

  /** In the server's map: id of a directory with a quota, level ({@link QuotaCount}). */
  public static final byte QUOTA_COUNT = 'W';

  /**
   * In the server's map: id of a file whose data is to move; the value is {@link FilesToMove}'s.
   */
  public static final byte TO_MOVE = 'V';

  /** In the server's map, alone: the {@link Limits}, as the group's first entry has them. */
  public static final byte FORMAT = 'F';

  private Keys() {}

  public static byte[] of(byte kind, long id) {
    return new ByteWriter(9).u8(kind).u64(id).toBytes();
  }

  public static byte[] of(byte kind, long id, long second) {
    return new ByteWriter(17).u8(kind).u64(id).u64(second).toBytes();
  }

  static byte[] entry(long parentId, byte[] name) {
    return new ByteWriter(9 + name.length).u8(ENTRY).u64(parentId).raw(name).toBytes();
  }

  /** The first id of a key. */
  public static long id(byte[] key) {
    return new ByteReader(key, 1).u64();
  }

  /** The second number of a key. */
  public static long second(byte[] key) {
    return new ByteReader(key, 9).u64();
  }

  /** The name at the end of an ENTRY key. */
  public static byte[] name(byte[] key) {
    return new ByteReader(key, 9).rest();
  }
}
