package io.takofs.client;

import io.takofs.transport.ProtectionDomain;
import io.takofs.transport.Transport;

/**
 * A client's own registered memory over one transport; it outlives connections.
 *
 * <p>Thread rule: any thread.
 */
final class LocalMemory implements AutoCloseable {
  private final ProtectionDomain domain;
  private final Staging staging;

  LocalMemory(Transport transport) {
    domain = transport.allocateProtectionDomain();
    staging = new Staging(domain);
  }

  ProtectionDomain domain() {
    return domain;
  }

  Staging staging() {
    return staging;
  }

  @Override
  public void close() {
    staging.close();
    domain.close();
  }
}
