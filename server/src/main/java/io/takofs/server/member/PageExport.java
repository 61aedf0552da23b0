package io.takofs.server.member;

import io.takofs.base.Undo;
import io.takofs.layout.Layout;
import io.takofs.memory.MappedMemory;
import io.takofs.transport.Access;
import io.takofs.transport.MemoryRegion;
import io.takofs.transport.ProtectionDomain;
import io.takofs.transport.Transport;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/**
 * The page zone as it is registered with a transport, for others to read, in a domain of its own: a
 * key of it opens nothing else. This server reads pages of others into the same memory.
 *
 * @param transport its name
 * @param regions a GiB each but the last
 */
record PageExport(String transport, ProtectionDomain domain, List<MemoryRegion> regions) {
  /**
   * Registers {@code pages}.
   *
   * @param undo takes that back
   */
  static PageExport register(MappedMemory pages, Transport transport, Undo undo)
      throws IOException {
    ProtectionDomain domain = undo.add(transport.allocateProtectionDomain());
    List<MemoryRegion> regions = new ArrayList<>();
    for (long at = 0; at < pages.length(); at += Layout.ARENA_SIZE) {
      int length = (int) Math.min(Layout.ARENA_SIZE, pages.length() - at);
      regions.add(domain.register(pages, at, length, Access.REMOTE_READ));
    }
    return new PageExport(transport.name(), domain, List.copyOf(regions));
  }
}
