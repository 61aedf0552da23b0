package io.takofs.client.internal.zone;

import io.takofs.base.Undo;
import io.takofs.transport.Access;
import io.takofs.transport.MemoryRegion;
import io.takofs.transport.ProtectionDomain;
import io.takofs.transport.Transport;
import java.io.IOException;

/**
 * A client's own registered memory over one transport; it outlives connections.
 *
 * <p>Thread rule: any thread.
 */
public final class LocalMemory implements AutoCloseable {
  /** A user who may not register so much is told so before a session depends on it. */
  private static final int TRIAL_BYTES = 4 << 20;

  private final ProtectionDomain domain;
  private final Staging staging;
  private final MemoryRegion word;

  /** Memory within {@code budget}. */
  public LocalMemory(Transport transport, MemoryBudget budget) throws IOException {
    try (Undo undo = new Undo()) {
      domain = undo.add(transport.allocateProtectionDomain());
      staging = undo.add(new Staging(domain, budget));
      word = transport.hasMemoryWindows() ? allocateWord() : null;
      undo.keep();
    }
  }

  private MemoryRegion allocateWord() throws IOException {
    staging.release(staging.exchange(TRIAL_BYTES));
    return domain.allocate(Long.BYTES, Access.REMOTE_READ);
  }

  public ProtectionDomain domain() {
    return domain;
  }

  public Staging staging() {
    return staging;
  }

  /**
   * A word that servers may read where they give memory windows: a read that follows the end of one
   * tells them that nothing comes through it any more. Null elsewhere.
   */
  public MemoryRegion word() {
    return word;
  }

  @Override
  public void close() {
    staging.close();
    if (word != null) {
      word.close();
    }
    domain.close();
  }
}
