package io.takofs.hadoop;

import io.takofs.client.CreateOptions;
import org.apache.hadoop.fs.permission.FsPermission;

/**
 * The two permissions with which something is made: after the umask, and before, which is what
 * counts in a directory with a default ACL.
 */
final class CreateModes {
  private CreateModes() {}

  /** {@code permission} before the umask, as far as it knows. */
  static int unmasked(FsPermission permission) {
    FsPermission unmasked = permission.getUnmasked();
    return (unmasked == null ? permission : unmasked).toShort();
  }

  /** How a file is created that does not replace another. */
  static CreateOptions options(
      FsPermission permission, boolean createParents, short replication, long blockSize) {
    return CreateOptions.DEFAULT
        .withPermission(permission.toShort(), unmasked(permission))
        .withCreateParents(createParents)
        .withReplication(replication)
        .withBlockSize(blockSize);
  }
}
