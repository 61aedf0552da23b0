package io.takofs.transport.verbs;

import io.takofs.transport.Access;
import io.takofs.transport.staging.MappedRange;
import io.takofs.transport.staging.MappedRegion;

/** A region of a {@link VerbsProtectionDomain}. Peers know it by its address in this process. */
final class VerbsMemoryRegion extends MappedRegion {
  private final VerbsProtectionDomain domain;
  private final VerbsRegistration registration;

  VerbsMemoryRegion(
      VerbsProtectionDomain domain,
      MappedRange range,
      Access access,
      VerbsRegistration registration) {
    super(domain, range, access, registration.lkey(), registration.rkey());
    this.domain = domain;
    this.registration = registration;
  }

  /** The {@code ibv_mr}. */
  long pointer() {
    return registration.pointer();
  }

  @Override
  public long address() {
    return localAddress();
  }

  /** The device must never reach memory that has become somebody else's. */
  @Override
  protected void withdraw() {
    domain.forget(this);
    registration.close();
  }
}
