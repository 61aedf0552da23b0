package io.takofs.client;

/**
 * How a file is created. Immutable; start from {@link #DEFAULT}.
 *
 * @param permission 12 bits, umask already applied
 * @param overwrite replace a file that exists, atomically, instead of failing
 * @param createParents make missing parent directories instead of failing
 * @param replication recorded in the file; 0 for the configured default
 * @param blockSize reported by the file, bytes; 0 for the configured default
 */
public record CreateOptions(
    int permission, boolean overwrite, boolean createParents, int replication, long blockSize) {

  /** Mode 0644, fails when the file exists, makes missing parents, configured defaults. */
  public static final CreateOptions DEFAULT = new CreateOptions(0644, false, true, 0, 0);

  public CreateOptions withPermission(int bits) {
    return new CreateOptions(bits, overwrite, createParents, replication, blockSize);
  }

  public CreateOptions withOverwrite(boolean replace) {
    return new CreateOptions(permission, replace, createParents, replication, blockSize);
  }

  public CreateOptions withCreateParents(boolean create) {
    return new CreateOptions(permission, overwrite, create, replication, blockSize);
  }

  public CreateOptions withReplication(int copies) {
    return new CreateOptions(permission, overwrite, createParents, copies, blockSize);
  }

  public CreateOptions withBlockSize(long bytes) {
    return new CreateOptions(permission, overwrite, createParents, replication, bytes);
  }
}
