package io.takofs.server.namespace.state;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.takofs.proto.AclEntry;
import io.takofs.proto.FileInfo;
import io.takofs.proto.FileType;
import io.takofs.server.codec.ByteReader;
import io.takofs.server.codec.ByteWriter;
import java.util.List;

/**
 * A file or directory. Its record, the value of its directory entry, is: flags u8 (1 directory, 2
 * open, 4 data in extents, 8 ACL, 16 extended attributes, 32 inline data after the extents, 128
 * location record), id u64, permission u16, owner and group with their lengths, modification time,
 * access time less modification time; for a file also length, replication, block size as trailing
 * zeros u8 and the rest, version, and the bytes of the inline data after the extents if there are
 * both. About 45 bytes.
 *
 * <p>Mutable: an operation decodes its own, changes it and stores it.
 */
public final class Inode {
  private static final int DIRECTORY = 1;
  private static final int OPEN = 2;
  private static final int EXTENTS = 4;
  private static final int ACL = 8;
  private static final int XATTRS = 16;
  private static final int TAIL = 32;
  private static final int MOVED = 128;

  public long id;
  public boolean directory;

  /** A client holds its lease. */
  public boolean open;

  /** It has an ACL record; {@link #acl()} is what it says. */
  public boolean hasAcl;

  /** It has extended attributes. */
  public boolean hasXAttrs;

  /** Of a file: it was renamed once, so {@link Locations} has a record of it. */
  public boolean moved;

  /** The table that has the ACL of a stored inode. */
  private AclTable acls;

  /** Null when it is to be read. */
  private List<AclEntry> acl = List.of();

  public int permission;
  public String owner;
  public String group;

  /**
   * Of a directory: of its making or the last setTimes; its contents record may know a later one.
   */
  public long modificationMs;

  public long accessMs;
  public long length;

  /** Bytes at its end that are in its metadata: all of a small file, a tail of another. */
  public int inlineLength;

  public int replication;
  public long blockSize;

  /** Changes with every commit. */
  public long version;

  public static Inode directory(long id, int permission, String owner, String group, long timeMs) {
    Inode inode = new Inode();
    inode.id = id;
    inode.directory = true;
    inode.permission = permission;
    inode.owner = owner;
    inode.group = group;
    inode.modificationMs = timeMs;
    inode.accessMs = timeMs;
    return inode;
  }

  /**
   * Reads a record.
   *
   * @param acls where the inode's ACL is read when somebody asks for it: most who visit entries do
   *     not
   */
  public static Inode decode(byte[] value, AclTable acls) {
    ByteReader in = new ByteReader(value);
    Inode inode = new Inode();
    int flags = in.u8();
    inode.directory = (flags & DIRECTORY) != 0;
    inode.open = (flags & OPEN) != 0;
    inode.hasAcl = (flags & ACL) != 0;
    inode.acls = acls;
    inode.acl = inode.hasAcl ? null : inode.acl;
    inode.hasXAttrs = (flags & XATTRS) != 0;
    inode.moved = (flags & MOVED) != 0;
    inode.id = in.u64();
    inode.permission = in.u16();
    inode.owner = in.name();
    inode.group = in.name();
    inode.modificationMs = in.signed();
    inode.accessMs = inode.modificationMs + in.signed();
    if (!inode.directory) {
      inode.length = in.variable();
      inode.replication = (int) in.variable();
      int zeros = in.u8();
      inode.blockSize = in.variable() << zeros;
      inode.version = in.variable();
      if ((flags & EXTENTS) == 0) {
        inode.inlineLength = (int) inode.length;
      } else if ((flags & TAIL) != 0) {
        inode.inlineLength = (int) in.variable();
      }
    }
    return inode;
  }

  /** Whether the record {@code value} is a directory's. */
  static boolean isDirectory(byte[] value) {
    return (value[0] & DIRECTORY) != 0;
  }

  public byte[] encode() {
    ByteWriter out =
        new ByteWriter(64)
            .u8(flags())
            .u64(id)
            .u16(permission)
            .sized(owner.getBytes(UTF_8))
            .sized(group.getBytes(UTF_8))
            .signed(modificationMs)
            .signed(accessMs - modificationMs);
    if (!directory) {
      int zeros = Long.numberOfTrailingZeros(blockSize);
      out.variable(length)
          .variable(replication)
          .u8(zeros)
          .variable(blockSize >>> zeros)
          .variable(version);
      if (hasTail()) {
        out.variable(inlineLength);
      }
    }
    return out.toBytes();
  }

  private int flags() {
    return (directory ? DIRECTORY : 0)
        | (open ? OPEN : 0)
        | (hasExtents() ? EXTENTS : 0)
        | (hasAcl ? ACL : 0)
        | (hasXAttrs ? XATTRS : 0)
        | (hasTail() ? TAIL : 0)
        | (moved ? MOVED : 0);
  }

  /** Bytes that are in extents: those before the inline ones. */
  public long extentsLength() {
    return length - inlineLength;
  }

  public boolean hasExtents() {
    return extentsLength() > 0;
  }

  private boolean hasTail() {
    return inlineLength > 0 && hasExtents();
  }

  /** The part of its ACL beyond the permission, as {@link AclTable} keeps it. */
  public List<AclEntry> acl() {
    if (acl == null) {
      acl = acls.read(id);
    }
    return acl;
  }

  /** Its ACL changes; {@link AclTable} keeps it. */
  void setAcl(List<AclEntry> entries) {
    acl = entries;
    hasAcl = !entries.isEmpty();
  }

  /** The status as callers see it; for a directory without a later modification time. */
  public FileInfo.Builder toInfo() {
    return FileInfo.newBuilder()
        .setId(id)
        .setType(directory ? FileType.DIRECTORY : FileType.FILE)
        .setLength(length)
        .setPermission(permission)
        .setOwner(owner)
        .setGroup(group)
        .setModificationTimeMs(modificationMs)
        .setAccessTimeMs(accessMs)
        .setReplication(replication)
        .setBlockSize(blockSize)
        .setUnderConstruction(open)
        .setVersion(version)
        .setHasAcl(hasAcl);
  }
}
