package io.takofs.client;

import io.takofs.proto.FileInfo;
import io.takofs.proto.FileType;

/**
 * What a path names: a file or a directory.
 *
 * @param path absolute
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
 */
public record PathStatus(
    String path,
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
    long version) {

  static PathStatus of(String path, FileInfo info) {
    return new PathStatus(
        path,
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
        info.getVersion());
  }

  /** Last element of the path; empty for the root. */
  public String name() {
    return path.substring(path.lastIndexOf('/') + 1);
  }
}
