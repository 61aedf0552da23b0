package io.takofs.server;

import io.takofs.memory.MappedMemory;
import io.takofs.transport.ProtectionDomain;
import io.takofs.transport.Transport;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The arenas as one transport shows them to connections.
 *
 * <p>Where it has memory windows, each connection has an export of its own, for reading only, and
 * is given windows to write ({@link WriteWindows}). Registering takes long, so what ended
 * connections leave is used again: nothing that was good for one pair is good for another.
 * Elsewhere all connections share one export, for reading and writing, and a client is kept out by
 * ending its connection.
 *
 * <p>Thread rule: any thread.
 */
final class ArenaExports implements AutoCloseable {
  private static final int SPARE_MAX = 16;

  private final Transport transport;
  private final List<MappedMemory> arenas;
  private final ArenaExport shared; // null where each connection has its own
  private final ArrayDeque<ArenaExport> spare = new ArrayDeque<>();
  private final Map<ProtectionDomain, ArenaExport> used = new HashMap<>();
  private boolean closed;

  ArenaExports(Transport transport, List<MappedMemory> arenas) throws IOException {
    this.transport = transport;
    this.arenas = arenas;
    ArenaExport first = new ArenaExport(transport, arenas);
    this.shared = transport.hasMemoryWindows() ? null : first;
    if (shared == null) {
      spare.push(first); // a host that does not let so much be registered is found out at once
    }
  }

  /** What a new connection may address, until {@link #giveBack}. */
  synchronized ArenaExport take() throws IOException {
    if (shared != null) {
      return shared;
    }
    ArenaExport export = spare.isEmpty() ? new ArenaExport(transport, arenas) : spare.pop();
    used.put(export.domain(), export);
    return export;
  }

  /** What was taken and has this domain. */
  synchronized ArenaExport of(ProtectionDomain domain) {
    return shared != null ? shared : used.get(domain);
  }

  /** The connection it was taken for is closed, or was never made. */
  synchronized void giveBack(ArenaExport export) {
    if (export == shared) {
      return;
    }
    used.remove(export.domain());
    if (!closed && spare.size() < SPARE_MAX) {
      spare.push(export);
    } else {
      export.close();
    }
  }

  /** Closes what no connection uses. */
  @Override
  public synchronized void close() {
    closed = true;
    spare.forEach(ArenaExport::close);
    spare.clear();
    if (shared != null) {
      shared.close();
    }
  }
}
