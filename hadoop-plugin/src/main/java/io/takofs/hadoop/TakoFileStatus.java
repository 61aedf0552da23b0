package io.takofs.hadoop;

import io.takofs.client.PathStatus;
import org.apache.hadoop.fs.EtagSource;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.permission.FsPermission;

/** A status that says which file it is of. */
final class TakoFileStatus extends FileStatus implements EtagSource, FileIdentity.Holder {
  private static final long serialVersionUID = 1;

  private final FileIdentity identity;

  TakoFileStatus(Path path, PathStatus status) {
    super(
        status.length(),
        status.directory(),
        status.directory() ? 0 : status.replication(),
        status.directory() ? 0 : status.blockSize(),
        status.modificationTimeMs(),
        status.accessTimeMs(),
        FsPermission.createImmutable((short) status.permission()),
        status.owner(),
        status.group(),
        null,
        path,
        status.hasAcl(),
        false,
        false);
    this.identity = FileIdentity.of(status);
  }

  @Override
  public FileIdentity identity() {
    return identity;
  }

  /** Null for a directory, which has no content. */
  @Override
  public String getEtag() {
    return isDirectory() ? null : identity.etag();
  }

  @Override
  public boolean equals(Object other) {
    return super.equals(other); // by path, as Hadoop has it
  }

  @Override
  public int hashCode() {
    return super.hashCode();
  }
}
