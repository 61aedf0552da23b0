package io.takofs.server.zone;

import io.takofs.base.TakoException;
import io.takofs.base.Undo;
import io.takofs.memory.MappedMemory;
import io.takofs.proto.Arenas;
import io.takofs.proto.RemoteArena;
import io.takofs.proto.Status;
import io.takofs.transport.Access;
import io.takofs.transport.MemoryRegion;
import io.takofs.transport.ProtectionDomain;
import io.takofs.transport.Transport;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/**
 * The arenas, registered in one protection domain: for reading where a transport has memory
 * windows, elsewhere for reading and writing.
 *
 * <p>Thread rule: immutable, any thread.
 */
public final class ArenaExport implements AutoCloseable {
  /** Arenas that one reply describes at most; 26 bytes each, so that half of a slot holds them. */
  public static final int DESCRIBED_MAX = 1024;

  private final ProtectionDomain domain;
  private final List<MemoryRegion> regions = new ArrayList<>();
  private final boolean writable;

  /** Registers {@code arenas} in a new domain of {@code transport}. */
  ArenaExport(Transport transport, List<MappedMemory> arenas) throws IOException {
    this.writable = !transport.hasMemoryWindows();
    Access access = writable ? Access.REMOTE_READ_WRITE : Access.REMOTE_READ;
    try (Undo undo = new Undo()) {
      this.domain = undo.add(transport.allocateProtectionDomain());
      undo.add(() -> regions.forEach(MemoryRegion::close));
      for (MappedMemory arena : arenas) {
        regions.add(domain.register(arena, 0, Math.toIntExact(arena.length()), access));
      }
      undo.keep();
    }
  }

  public ProtectionDomain domain() {
    return domain;
  }

  /** Whether whoever reaches the arenas may write them; else it takes windows. */
  public boolean isWritable() {
    return writable;
  }

  MemoryRegion arena(int index) {
    return regions.get(index);
  }

  /**
   * The description that a client needs to address the arenas, as much as fits a reply.
   *
   * @param first index of the first arena wanted
   * @param most arenas that the reply has room for
   * @throws TakoException INVALID_ARGUMENT when there is no such arena
   */
  public Arenas describe(int first, int most) throws TakoException {
    if (first < 0 || first >= regions.size()) {
      throw new TakoException(
          Status.INVALID_ARGUMENT,
          "arenas are wanted from "
              + Integer.toUnsignedString(first)
              + ", the pool has "
              + regions.size());
    }
    int end = Math.min(regions.size(), first + most);
    Arenas.Builder arenas =
        Arenas.newBuilder().setKeysOfExtents(!writable).setMore(end < regions.size());
    for (int index = first; index < end; index++) {
      MemoryRegion region = regions.get(index);
      arenas.addArenas(
          RemoteArena.newBuilder()
              .setIndex(index)
              .setAddress(region.address())
              .setRkey(region.rkey())
              .setLength(region.length()));
    }
    return arenas.build();
  }

  /** Needs its connections closed. */
  @Override
  public void close() {
    regions.forEach(MemoryRegion::close);
    domain.close();
  }
}
