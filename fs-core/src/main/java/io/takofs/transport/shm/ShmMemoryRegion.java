package io.takofs.transport.shm;

import io.takofs.transport.Access;
import io.takofs.transport.staging.MappedRange;
import io.takofs.transport.staging.MappedRegion;

/** A region of a {@link ShmProtectionDomain}. */
final class ShmMemoryRegion extends MappedRegion {
  private final ShmProtectionDomain domain;
  private final long address;

  /** The address and key that peers use; key 0 for a region that they cannot address. */
  record Export(int rkey, long address) {}

  ShmMemoryRegion(
      ShmProtectionDomain domain, MappedRange range, Access access, int lkey, Export export) {
    super(domain, range, access, lkey, export.rkey());
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
