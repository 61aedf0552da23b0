package io.takofs.client.internal.zone;

import io.takofs.layout.Layout;
import io.takofs.proto.Extent;
import io.takofs.proto.Replica;
import io.takofs.proto.Slab;
import java.util.ArrayList;
import java.util.List;

/**
 * The place of the bytes of one replica of an extent.
 *
 * @param server its id; 0 for the session's server
 * @param arena index
 * @param offset of the first byte within the arena
 * @param capacity bytes
 */
public record Place(int server, int arena, int offset, int capacity) {
  /** The places of an extent of {@code slab}, in the order of its replicas. */
  public static List<Place> in(Slab slab, Extent extent) {
    if (slab.getReplicasCount() == 1) {
      return List.of(at(slab.getReplicas(0), extent));
    }
    List<Place> places = new ArrayList<>(slab.getReplicasCount());
    for (Replica replica : slab.getReplicasList()) {
      places.add(at(replica, extent));
    }
    return places;
  }

  /** The place of the replica of an extent in the {@code replica} of its slab. */
  public static Place at(Replica replica, Extent extent) {
    return new Place(
        replica.getServer(),
        replica.getArena(),
        replica.getIndex() * Layout.SLAB_SIZE + extent.getOffset(),
        extent.getCapacity());
  }

  /** Offset within the arena of the checksum entries. */
  public int checksumsOffset() {
    return offset / Layout.GRANULE_SIZE * Integer.BYTES;
  }
}
