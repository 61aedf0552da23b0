package io.takofs.sim.cluster;

import io.takofs.layout.Layout;
import io.takofs.memory.Granules;
import io.takofs.proto.Replica;
import io.takofs.proto.Slab;
import io.takofs.server.extent.Location;
import io.takofs.server.namespace.state.FileExtent;
import io.takofs.sim.SimMachine;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.zip.CRC32C;

/**
 * I25, and R copies of what was acknowledged (I26): every replica of a committed extent has the
 * bytes of its record. The one exception is a replica in which a bit has changed by itself, until
 * it is mended, which takes another one that has them.
 */
final class CommittedBytes {
  private final List<? extends SimMachine> machines;

  CommittedBytes(List<? extends SimMachine> machines) {
    this.machines = machines;
  }

  /** Fails when a replica has other bytes, and no bit has changed there by itself. */
  void check(StateRecords.Committed one, Slab slab) {
    FileExtent extent = one.extent();
    for (Replica replica : slab.getReplicasList()) {
      SimMachine machine = machine(replica.getServer());
      Location at = extent.range().in(replica);
      if (machine != null
          && !isRight(extent, replica)
          && !machine.flips().areIn(at.arena(), at.offset(), extent.length())) {
        throw new AssertionError(
            "other bytes than those of " + one + " at server " + replica.getServer());
      }
    }
  }

  /** Whether a replica has the bytes, at a server whose pool is there. */
  boolean isIntact(FileExtent extent, Slab slab) {
    return isIntactWithout(0, extent, slab);
  }

  /** As {@link #isIntact}, of those that are not at {@code server}. */
  boolean isIntactWithout(int server, FileExtent extent, Slab slab) {
    return slab.getReplicasList().stream()
        .anyMatch(replica -> replica.getServer() != server && isRight(extent, replica));
  }

  /** The replicas of an extent that have wrong bytes, while another one has the right ones. */
  List<Replica> mendable(FileExtent extent, Slab slab) {
    List<Replica> wrong =
        slab.getReplicasList().stream().filter(each -> !isRight(extent, each)).toList();
    return wrong.size() == slab.getReplicasCount() ? List.of() : wrong;
  }

  private boolean isRight(FileExtent extent, Replica replica) {
    SimMachine machine = machine(replica.getServer());
    if (machine == null) {
      return false;
    }
    int offset = extent.range().in(replica).offset();
    ByteBuffer arena = machine.arena(replica.getArena());
    int granules = extent.length() / Layout.GRANULE_SIZE;
    int entries = offset / Layout.GRANULE_SIZE * Integer.BYTES;
    boolean right = crc(arena, entries, granules * Integer.BYTES) == extent.checksumsCrc();
    int[] crcs = new int[1];
    for (int i = 0; right && i < granules; i++) {
      Granules.checksums(arena, offset + i * Layout.GRANULE_SIZE, 1, crcs);
      right = crcs[0] == arena.getInt(entries + i * Integer.BYTES);
    }
    int full = granules * Layout.GRANULE_SIZE;
    int tail = extent.length() - full;
    return right && (tail == 0 || crc(arena, offset + full, tail) == extent.tailCrc());
  }

  /** The server with this id; null when its pool is lost. */
  SimMachine machine(int id) {
    return machines.stream().filter(machine -> machine.id() == id).findAny().orElse(null);
  }

  private static int crc(ByteBuffer memory, int at, int length) {
    CRC32C crc = new CRC32C();
    crc.update(memory.slice(at, length));
    return (int) crc.getValue();
  }
}
