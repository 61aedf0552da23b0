package io.takofs.client;

import io.takofs.client.internal.file.PathParts;
import io.takofs.proto.FileInfo;
import io.takofs.proto.FileType;

/**
 * Status of the file or directory that a path names.
 *
 * @param parent absolute path of the directory it is in; empty for the root
 * @param name last element of its path; empty for the root
 * @param parentId id of the directory it is in; 0 when that was not asked for
 * @param id of the inode; stays the same when it is renamed, never used again
 * @param directory whether it is one, else a file
 * @param length committed bytes; 0 for a directory
 * @param permission 12 bits, sticky bit included
 * @param owner user name
 * @param group group name
 * @param modificationTimeMs since 1970
 * @param accessTimeMs since 1970
 * @param replication as recorded
 * @param blockSize as recorded, bytes
 * @param underConstruction whether a client has it open for writing
 * @param version changes with every commit
 * @param hasAcl whether more than the permission says who may do what
 */
public record PathStatus(
    String parent,
    String name,
    long parentId,
    long id,
    boolean directory,
    long length,
    int permission,
    String owner,
    String group,
    long modificationTimeMs,
    long accessTimeMs,
    int replication,
    long blockSize,
    boolean underConstruction,
    long version,
    boolean hasAcl) {

  static PathStatus of(String path, FileInfo info) {
    return new PathStatus(
        PathParts.parentOf(path),
        PathParts.nameOf(path),
        info.getParentId(),
        info.getId(),
        info.getType() == FileType.DIRECTORY,
        info.getLength(),
        info.getPermission(),
        info.getOwner(),
        info.getGroup(),
        info.getModificationTimeMs(),
        info.getAccessTimeMs(),
        info.getReplication(),
        info.getBlockSize(),
        info.getUnderConstruction(),
        info.getVersion(),
        info.getHasAcl());
  }

  /** Its absolute path. */
  public String path() {
    return parent.equals("/") ? "/" + name : parent + "/" + name;
  }
}
