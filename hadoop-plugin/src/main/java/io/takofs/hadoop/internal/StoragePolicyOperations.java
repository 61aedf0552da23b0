package io.takofs.hadoop.internal;

import java.io.IOException;
import java.util.Collection;
import java.util.List;
import org.apache.hadoop.fs.BlockStoragePolicySpi;
import org.apache.hadoop.fs.Path;

/**
 * Storage policies: data is always in memory. Queries work as in HDFS; any other policy is refused,
 * as HDFS refuses one that it does not know. Paths are qualified and have to exist.
 *
 * <p>Thread rule: any thread.
 */
public final class StoragePolicyOperations {
  private final StatusOperations statuses;

  StoragePolicyOperations(StatusOperations statuses) {
    this.statuses = statuses;
  }

  public Collection<? extends BlockStoragePolicySpi> all() {
    return List.of(MemoryPolicy.values());
  }

  public BlockStoragePolicySpi of(Path path) throws IOException {
    statuses.status(path);
    return MemoryPolicy.MEMORY;
  }

  public void set(Path path, String policy) throws IOException {
    statuses.status(path);
    if (!MemoryPolicy.MEMORY.getName().equalsIgnoreCase(policy)) {
      throw new IllegalArgumentException(
          "%s cannot have the storage policy %s: all data lies in memory, and %s is the only policy"
              .formatted(path, policy, MemoryPolicy.MEMORY));
    }
  }

  /** Only checks that the path exists: data is in memory already, with or without a policy. */
  public void unsetOrSatisfy(Path path) throws IOException {
    statuses.status(path);
  }
}
