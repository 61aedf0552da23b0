package io.takofs.transport.shm;

import io.takofs.memory.MappedMemory;
import io.takofs.transport.Access;
import io.takofs.transport.staging.MappedRegion;

/** A region of a {@link ShmProtectionDomain}. */
final class ShmMemoryRegion extends MappedRegion {
  private final ShmProtectionDomain domain;
  private final long address;

  /** The address and key that peers use; key 0 for a region that they cannot address. */
  record Export(int rkey, long address) {}

  ShmMemoryRegion(
      ShmProtectionDomain domain,
      MappedMemory memory,
      boolean ownsMemory,
      long offset,
      int length,
      Access access,
      int lkey,
      Export export) {
    super(domain, memory, ownsMemory, offset, length, access, lkey, export.rkey());
    this.domain = domain;
    this.address = export.address();
  }

  @Override
  public long address() {
    return address;
  }

  @Override
  protected void withdraw() {
    domain.withdraw(this);
  }
}
