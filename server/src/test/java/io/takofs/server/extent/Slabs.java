package io.takofs.server.extent;

import io.takofs.layout.Layout;
import io.takofs.proto.AddSlab;
import io.takofs.proto.LeasedSlab;
import io.takofs.proto.Replica;
import io.takofs.proto.Slab;
import io.takofs.server.codec.ByteWriter;
import io.takofs.server.store.PagedStore;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.Map;

/** The slabs of servers' arenas. */
public final class Slabs {
  private Slabs() {}

  /** All slabs of arenas of {@code server} with so many bytes, in their order, each leased once. */
  public static List<AddSlab.Builder> of(int server, List<Long> arenas) {
    List<AddSlab.Builder> slabs = new ArrayList<>();
    for (int arena = 0; arena < arenas.size(); arena++) {
      long length = arenas.get(arena);
      for (int index = 0; (long) index * Layout.SLAB_SIZE < length; index++) {
        long bytes = Math.min(Layout.SLAB_SIZE, length - (long) index * Layout.SLAB_SIZE);
        slabs.add(
            AddSlab.newBuilder()
                .addReplicas(
                    Replica.newBuilder()
                        .setServer(server)
                        .setArena(arena)
                        .setIndex(index)
                        .setLease(slabs.size() + 1))
                .setFirstUnit(index == 0 ? checksumUnits(length) : 0)
                .setEndUnit((int) (bytes / Layout.UNIT_SIZE)));
      }
    }
    return slabs;
  }

  /**
   * Checkpoints write to the summary of {@code store}, from now on, which units of slabs are used.
   *
   * @param used units by the slabs' ids
   */
  public static void summarize(PagedStore store, Map<Long, BitSet> used) {
    store.onCheckpoint(
        () -> {
          for (Map.Entry<Long, BitSet> slab : used.entrySet()) {
            byte[] key = new ByteWriter(9).u8('B').u64(slab.getKey()).toBytes();
            byte[] units = Arrays.copyOf(slab.getValue().toByteArray(), SlabRange.SLAB_UNITS / 8);
            store.summary().put(key, units);
          }
        });
  }

  /** The replica in what {@code server} has lent. */
  public static Replica replica(int server, LeasedSlab lent) {
    return Replica.newBuilder()
        .setServer(server)
        .setArena(lent.getArena())
        .setIndex(lent.getIndex())
        .setLease(lent.getLease())
        .build();
  }

  private static int checksumUnits(long arena) {
    long bytes = arena / Layout.GRANULE_SIZE * Integer.BYTES;
    return (int) ((bytes + Layout.UNIT_SIZE - 1) / Layout.UNIT_SIZE);
  }

  /** A slab of one server, with these units. */
  static Slab slab(long id, int copies, int first, int end, int... servers) {
    Slab.Builder slab =
        Slab.newBuilder().setId(id).setWanted(copies).setFirstUnit(first).setEndUnit(end);
    for (int server : servers) {
      slab.addReplicas(Replica.newBuilder().setServer(server).setLease(id));
    }
    return slab.build();
  }
}
