package io.takofs.hadoop.internal;

import org.apache.hadoop.fs.BlockStoragePolicySpi;
import org.apache.hadoop.fs.StorageType;

/** The one storage policy that there is: everything lies in memory, and goes nowhere else. */
enum MemoryPolicy implements BlockStoragePolicySpi {
  MEMORY;

  @Override
  public String getName() {
    return name();
  }

  @Override
  public StorageType[] getStorageTypes() {
    return new StorageType[] {StorageType.RAM_DISK};
  }

  @Override
  public StorageType[] getCreationFallbacks() {
    return StorageType.EMPTY_ARRAY;
  }

  @Override
  public StorageType[] getReplicationFallbacks() {
    return StorageType.EMPTY_ARRAY;
  }

  @Override
  public boolean isCopyOnCreateFile() {
    return false;
  }
}
