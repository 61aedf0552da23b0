package io.takofs.hadoop.internal;

import io.takofs.client.PathStatus;
import java.io.Serializable;
import org.apache.hadoop.fs.EtagSource;

/**
 * The identity of a status's file, and the version of its content.
 *
 * @param parentId of the directory it was in
 * @param id of the file, whatever its name
 * @param version of its content
 */
record FileIdentity(long parentId, long id, long version) implements Serializable {
  /** A status that Tako returned; it has an identity. */
  interface Holder extends EtagSource {
    FileIdentity identity();

    boolean isDirectory();

    /** Null for a directory, which has no content. */
    @Override
    default String getEtag() {
      return isDirectory() ? null : identity().etag();
    }
  }

  static FileIdentity of(PathStatus status) {
    return new FileIdentity(status.parentId(), status.id(), status.version());
  }

  /** Changes with the content; renaming leaves it. */
  String etag() {
    return Long.toHexString(id) + "-" + Long.toHexString(version);
  }
}
