package io.takofs.hadoop.internal;

import io.takofs.base.TakoException;
import io.takofs.client.TakoClient;
import io.takofs.proto.Status;
import java.io.IOException;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.permission.FsPermission;

/**
 * Permission, owner, times and replication. Paths are qualified.
 *
 * <p>Thread rule: any thread.
 */
public final class AttributeOperations {
  private final TakoClient client;

  AttributeOperations(TakoClient client) {
    this.client = client;
  }

  public void setPermission(Path path, FsPermission permission) throws IOException {
    Call.to(
        path,
        name -> {
          client.setPermission(name, permission.toShort());
          return null;
        });
  }

  /** Null leaves owner or group as it is. */
  public void setOwner(Path path, String owner, String group) throws IOException {
    if (owner == null && group == null) {
      throw new IllegalArgumentException(path + ": neither a user nor a group was given");
    }
    Call.to(
        path,
        name -> {
          client.setOwner(name, owner, group);
          return null;
        });
  }

  /** Milliseconds since 1970; negative leaves a time as it is. */
  public void setTimes(Path path, long modified, long accessed) throws IOException {
    Call.to(
        path,
        name -> {
          client.setTimes(name, modified, accessed);
          return null;
        });
  }

  /** False for a directory, which has no replication. */
  public boolean setReplication(Path path, short replication) throws IOException {
    return Call.to(
        path,
        name -> {
          try {
            client.setReplication(name, replication);
            return true;
          } catch (TakoException e) {
            if (e.status() == Status.IS_A_DIRECTORY) {
              return false;
            }
            throw e;
          }
        });
  }
}
