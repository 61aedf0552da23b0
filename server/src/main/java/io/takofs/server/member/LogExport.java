package io.takofs.server.member;

import io.takofs.base.Undo;
import io.takofs.layout.Layout;
import io.takofs.memory.MappedMemory;
import io.takofs.server.log.LogMemory;
import io.takofs.server.log.LogTransport;
import io.takofs.transport.Access;
import io.takofs.transport.CompletionQueue;
import io.takofs.transport.MemoryRegion;
import io.takofs.transport.ProtectionDomain;
import io.takofs.transport.Transport;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/**
 * Registers the slots of a log with a transport, without their headers, which are the owner's
 * alone.
 *
 * <p>Thread rule: any thread.
 */
final class LogExport {
  /** Completions that wait on the queue of one transport at most. */
  private static final int COMPLETIONS_MAX = 4096;

  private LogExport() {}

  /**
   * Registers {@code log}.
   *
   * @param undo takes that back
   */
  static LogTransport register(MappedMemory log, Transport transport, Undo undo)
      throws IOException {
    ProtectionDomain domain = undo.add(transport.allocateProtectionDomain());
    CompletionQueue queue = undo.add(transport.createCompletionQueue(COMPLETIONS_MAX));
    List<MemoryRegion> slots = new ArrayList<>();
    for (long at = 0; at < log.length(); at += Layout.SEGMENT_SIZE) {
      slots.add(
          domain.register(
              log,
              at + Layout.SEGMENT_DATA_OFFSET,
              Layout.SEGMENT_SIZE - Layout.SEGMENT_DATA_OFFSET,
              Access.REMOTE_READ_WRITE));
    }
    MemoryRegion heartbeat = domain.allocate(Layout.HEARTBEAT_SIZE, Access.REMOTE_READ_WRITE);
    return new LogTransport(transport.name(), domain, new LogMemory(slots, heartbeat), queue);
  }
}
