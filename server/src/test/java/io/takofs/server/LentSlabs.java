package io.takofs.server;

import io.takofs.layout.Layout;
import io.takofs.proto.AddSlab;
import io.takofs.proto.Extent;
import io.takofs.proto.FencedExtents;
import io.takofs.proto.HeldSlabs;
import io.takofs.proto.LeasedSlab;
import io.takofs.proto.LeasedSlabs;
import io.takofs.proto.Replica;
import io.takofs.proto.Reply;
import io.takofs.proto.Request;
import io.takofs.proto.ReturnedSlab;
import io.takofs.proto.SpaceUsage;
import io.takofs.server.extent.Slabs;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;

/** A data zone without memory, whose slabs nobody can write or read without the leader's leave. */
final class LentSlabs implements Function<Request, Reply> {
  private final List<LeasedSlab> free = new ArrayList<>();
  private final List<LeasedSlab> held = new ArrayList<>();
  private final long capacity;
  private final Map<Long, Set<Extent>> contents = new HashMap<>(); // by lease
  private long lastLease;

  /** Whether somebody reads every extent. */
  boolean readers;

  /** Questions whether extents may be freed. */
  int fenced;

  /** The clients that returns named, by lease. */
  final Map<Long, List<Long>> grantees = new HashMap<>();

  LentSlabs(List<Long> arenas) {
    for (AddSlab.Builder slab : Slabs.of(1, arenas)) {
      Replica place = slab.getReplicas(0);
      free.add(
          LeasedSlab.newBuilder()
              .setArena(place.getArena())
              .setIndex(place.getIndex())
              .setFirstUnit(slab.getFirstUnit())
              .setEndUnit(slab.getEndUnit())
              .build());
    }
    capacity = bytes(free);
  }

  /** So many slabs of 16 MiB, each in an arena of its own. */
  static LentSlabs of(int slabs) {
    return new LentSlabs(Collections.nCopies(slabs, (long) Layout.SLAB_SIZE));
  }

  /** All are lent already, as {@link Slabs#of} numbers the leases. */
  static LentSlabs allHeld(List<Long> arenas) {
    LentSlabs slabs = new LentSlabs(arenas);
    slabs.lease(slabs.free.size());
    return slabs;
  }

  private static long bytes(List<LeasedSlab> slabs) {
    return slabs.stream()
        .mapToLong(s -> (s.getEndUnit() - s.getFirstUnit()) * (long) Layout.UNIT_SIZE)
        .sum();
  }

  SpaceUsage usage() {
    return SpaceUsage.newBuilder().setCapacity(capacity).setFree(bytes(free)).build();
  }

  @Override
  public Reply apply(Request request) {
    return switch (request.getOperationCase()) {
      case LEASE_SLABS -> lease(request.getLeaseSlabs().getCount());
      case RETURN_SLABS -> {
        request.getReturnSlabs().getSlabsList().forEach(this::giveBack);
        yield Reply.newBuilder().setDone(true).build();
      }
      case LIST_SLABS ->
          Reply.newBuilder()
              .setHeldSlabs(HeldSlabs.newBuilder().addAllSlabs(held).setUsage(usage()))
              .build();
      case FENCE_EXTENTS -> {
        FencedExtents.Builder done = FencedExtents.newBuilder();
        fenced++;
        for (int i = 0; !readers && i < request.getFenceExtents().getExtentsCount(); i++) {
          done.addDone(i);
        }
        yield Reply.newBuilder().setFencedExtents(done).build();
      }
      default -> throw new AssertionError(request);
    };
  }

  private Reply lease(int count) {
    LeasedSlabs.Builder leased = LeasedSlabs.newBuilder();
    for (int i = 0; i < count && !free.isEmpty(); i++) {
      LeasedSlab slab = free.remove(0).toBuilder().setLease(++lastLease).build();
      held.add(slab);
      leased.addSlabs(slab);
    }
    return Reply.newBuilder().setLeasedSlabs(leased.setUsage(usage())).build();
  }

  private void giveBack(ReturnedSlab returned) {
    for (LeasedSlab slab : List.copyOf(held)) {
      if (slab.getLease() == returned.getLease()) {
        held.remove(slab);
        free.add(slab);
        contents.remove(slab.getLease());
        grantees.put(slab.getLease(), returned.getGranteesList());
      }
    }
  }

  /** An extent's bytes, by its record, are in the slab that is lent under {@code lease}. */
  void store(long lease, Extent extent) {
    contents.computeIfAbsent(lease, any -> new HashSet<>()).add(key(extent));
  }

  boolean has(long lease, Extent extent) {
    return isHeld(lease) && contents.getOrDefault(lease, Set.of()).contains(key(extent));
  }

  /** Whether there are so many bytes of some extent that begins there. */
  boolean hasAt(long lease, int offset, int length) {
    return isHeld(lease)
        && contents.getOrDefault(lease, Set.of()).stream()
            .anyMatch(each -> each.getOffset() == offset && each.getLength() == length);
  }

  boolean isHeld(long lease) {
    return held.stream().anyMatch(slab -> slab.getLease() == lease);
  }

  /** The bytes of an extent become wrong. */
  void spoil(long lease, Extent extent) {
    contents.get(lease).remove(key(extent));
  }

  private static Extent key(Extent extent) {
    return Extent.newBuilder()
        .setOffset(extent.getOffset())
        .setGeneration(extent.getGeneration())
        .setLength(extent.getLength())
        .build();
  }

  /** Slabs that are lent. */
  List<LeasedSlab> held() {
    return List.copyOf(held);
  }
}
