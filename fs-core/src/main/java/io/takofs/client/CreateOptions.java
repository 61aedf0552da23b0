package io.takofs.client;

/**
 * Options for creating a file. Immutable; start from {@link #DEFAULT}.
 *
 * @param permission 12 bits, umask already applied
 * @param overwrite replace a file that exists, atomically, instead of failing
 * @param createParents make missing parent directories instead of failing
 * @param replication recorded in the file; 0 for the configured default
 * @param blockSize reported by the file, bytes; 0 for the configured default
 * @param unmaskedPermission without the umask: applies in a directory with a default ACL
 * @param expectedLength bytes that will probably be written; 0 when nobody knows. Space for them, 8
 *     MiB at most, comes with the file and not by calls of its own; of what is not written, all but
 *     the rest of an extent of 1 MiB is free again when the file is closed
 */
public record CreateOptions(
    int permission,
    boolean overwrite,
    boolean createParents,
    int replication,
    long blockSize,
    int unmaskedPermission,
    long expectedLength) {

  /** Mode 0644, fails when the file exists, makes missing parents, configured defaults. */
  public static final CreateOptions DEFAULT = new CreateOptions(0644, false, true, 0, 0, 0644, 0);

  public CreateOptions withPermission(int bits) {
    return withPermission(bits, bits);
  }

  /** With a umask applied to the first and not to the second. */
  public CreateOptions withPermission(int masked, int unmasked) {
    return new CreateOptions(
        masked, overwrite, createParents, replication, blockSize, unmasked, expectedLength);
  }

  public CreateOptions withOverwrite(boolean replace) {
    return new CreateOptions(
        permission,
        replace,
        createParents,
        replication,
        blockSize,
        unmaskedPermission,
        expectedLength);
  }

  public CreateOptions withCreateParents(boolean create) {
    return new CreateOptions(
        permission, overwrite, create, replication, blockSize, unmaskedPermission, expectedLength);
  }

  public CreateOptions withReplication(int copies) {
    return new CreateOptions(
        permission,
        overwrite,
        createParents,
        copies,
        blockSize,
        unmaskedPermission,
        expectedLength);
  }

  public CreateOptions withBlockSize(long bytes) {
    return new CreateOptions(
        permission,
        overwrite,
        createParents,
        replication,
        bytes,
        unmaskedPermission,
        expectedLength);
  }

  public CreateOptions withExpectedLength(long bytes) {
    return new CreateOptions(
        permission,
        overwrite,
        createParents,
        replication,
        blockSize,
        unmaskedPermission,
        Math.max(0, bytes));
  }
}
