package io.takofs.hadoop.internal;

import io.takofs.client.CreateOptions;
import org.apache.hadoop.fs.permission.FsPermission;

/**
 * The two permissions with which something is made: after the umask, and before, which is what
 * counts in a directory with a default ACL.
 */
public final class CreateModes {
  private CreateModes() {}

  /** {@code permission} before the umask, as far as it knows. */
  static int unmasked(FsPermission permission) {
    FsPermission unmasked = permission.getUnmasked();
    return (unmasked == null ? permission : unmasked).toShort();
  }

  /** {@code options} with a {@code permission} that the umask was applied to. */
  public static CreateOptions withPermission(CreateOptions options, FsPermission permission) {
    return options.withPermission(permission.toShort(), unmasked(permission));
  }

  /** Options to create a file without replacing another. */
  public static CreateOptions options(boolean createParents, short replication, long blockSize) {
    return CreateOptions.DEFAULT
        .withCreateParents(createParents)
        .withReplication(replication)
        .withBlockSize(blockSize);
  }
}
