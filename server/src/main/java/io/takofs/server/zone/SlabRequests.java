package io.takofs.server.zone;

import io.takofs.base.TakoException;
import io.takofs.layout.Layout;
import io.takofs.proto.CopyExtents;
import io.takofs.proto.Extent;
import io.takofs.proto.FenceExtents;
import io.takofs.proto.FencedExtent;
import io.takofs.proto.FencedExtents;
import io.takofs.proto.HeldSlabs;
import io.takofs.proto.Leadership;
import io.takofs.proto.LeaseSlabs;
import io.takofs.proto.LeasedSlabs;
import io.takofs.proto.ListSlabs;
import io.takofs.proto.Replica;
import io.takofs.proto.Reply;
import io.takofs.proto.Request;
import io.takofs.proto.ReturnSlabs;
import io.takofs.proto.ReturnedSlab;
import io.takofs.proto.Status;
import io.takofs.server.extent.Location;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/**
 * Answers the requests of the leader of a log group to a data zone.
 *
 * <p>Thread rule: any thread.
 */
final class SlabRequests {
  /** Slabs in one page; less than 30 bytes each, so that half of a reply slot holds them. */
  static final int PAGE_MAX = 1024;

  /** Slabs that one request leases at most; all of them fit a reply. */
  static final int LEASE_MAX = 1024;

  /** When less than one of so many slabs is free, nobody waits for those that were returned. */
  private static final int FULL_OF = 8;

  private final SlabTable table;
  private final SlabPlaces places;
  private final SlabFences fences;
  private final ReaderHolds holds;
  private volatile SlabCopy copier; // null while nothing can be copied here
  private volatile String failure; // why the table does not change any more; null otherwise

  SlabRequests(SlabTable table, SlabFences fences, ReaderHolds holds) {
    this.table = table;
    this.places = table.places();
    this.fences = fences;
    this.holds = holds;
  }

  /** CopyExtents is answered from now on. */
  void copyWith(SlabCopy copies) {
    copier = copies;
  }

  /** As {@link ServerDataZone#handle}. */
  Reply handle(Request request) {
    try {
      if (failure != null) {
        throw new TakoException(Status.UNAVAILABLE, failure);
      }
      return execute(request);
    } catch (TakoException e) {
      return Reply.newBuilder().setStatus(e.status()).setMessage(e.getMessage()).build();
    } catch (UncheckedIOException e) {
      // A medium that failed once may claim success for what it has lost.
      failure = "the slab table cannot be made persistent: " + e.getCause().getMessage();
      return Reply.newBuilder().setStatus(Status.UNAVAILABLE).setMessage(failure).build();
    }
  }

  private Reply execute(Request request) throws TakoException {
    return switch (request.getOperationCase()) {
      case LEASE_SLABS -> lease(request.getLeaseSlabs());
      case RETURN_SLABS -> giveBack(request.getReturnSlabs());
      case LIST_SLABS -> list(request.getListSlabs());
      case FENCE_EXTENTS -> fence(request.getFenceExtents());
      case COPY_EXTENTS -> copy(request.getCopyExtents());
      default ->
          throw new TakoException(
              Status.UNSUPPORTED, request.getOperationCase() + " is not answered by a data zone");
    };
  }

  private Leadership heard(Leadership leader) throws TakoException {
    if (leader.getGroup() == 0) {
      throw new TakoException(
          Status.INVALID_ARGUMENT, "a request names no group; groups are numbered from 1");
    }
    table.hear(leader.getGroup(), leader.getTerm());
    return leader;
  }

  private Reply lease(LeaseSlabs request) throws TakoException {
    Leadership leader = heard(request.getLeader());
    int count = request.getCount();
    if (request.getRequest() == 0 || count < 0 || count > LEASE_MAX) {
      throw new TakoException(
          Status.INVALID_ARGUMENT,
          "request %s for %s slabs: requests are numbered from 1, and one leases %d slabs at most"
              .formatted(
                  Long.toUnsignedString(request.getRequest()),
                  Integer.toUnsignedString(count),
                  LEASE_MAX));
    }
    fences.freeReturned(false);
    // A leader asks for none of a full server: it does not wait for who may write there either.
    if (table.freeCount() < Math.max(count, table.size() / FULL_OF + 1)) {
      fences.freeReturned(true);
    }
    LeasedSlabs.Builder leased = LeasedSlabs.newBuilder();
    for (int slot : table.lease(leader.getGroup(), leader.getTerm(), request.getRequest(), count)) {
      leased.addSlabs(places.describe(slot, table.lease(slot)));
    }
    return Reply.newBuilder().setLeasedSlabs(leased.setUsage(table.usage())).build();
  }

  private Reply giveBack(ReturnSlabs request) throws TakoException {
    Leadership leader = heard(request.getLeader());
    List<Integer> slots = new ArrayList<>();
    for (ReturnedSlab slab : request.getSlabsList()) {
      slots.add(slot(slab.getArena(), slab.getIndex()));
    }
    for (int i = 0; i < slots.size(); i++) {
      ReturnedSlab slab = request.getSlabs(i);
      fences.giveBack(slots.get(i), leader.getGroup(), slab.getLease(), slab.getGranteesList());
    }
    fences.freeReturned(false);
    return Reply.newBuilder().setDone(true).build();
  }

  private Reply list(ListSlabs request) throws TakoException {
    Leadership leader = heard(request.getLeader());
    int after =
        request.getFirstPage() ? -1 : slot(request.getAfterArena(), request.getAfterIndex());
    List<Integer> slots = table.heldBy(leader.getGroup(), after, PAGE_MAX + 1);
    HeldSlabs.Builder held =
        HeldSlabs.newBuilder().setMore(slots.size() > PAGE_MAX).setUsage(table.usage());
    slots.stream()
        .limit(PAGE_MAX)
        .forEach(slot -> held.addSlabs(places.describe(slot, table.lease(slot))));
    return Reply.newBuilder().setHeldSlabs(held).build();
  }

  private Reply fence(FenceExtents request) throws TakoException {
    Leadership leader = heard(request.getLeader());
    List<SlabFences.Writer> writers = new ArrayList<>();
    List<Location> wanted = new ArrayList<>();
    for (FencedExtent extent : request.getExtentsList()) {
      SlabFences.Writer writer = writer(leader.getGroup(), extent);
      writers.add(writer);
      if (!fences.isAnswered(writer)) {
        wanted.add(location(extent));
      }
    }
    Set<Location> held = wanted.isEmpty() ? Set.of() : holds.held(wanted);
    FencedExtents.Builder done = FencedExtents.newBuilder();
    for (int i = 0; i < writers.size(); i++) {
      FencedExtent extent = request.getExtents(i);
      Location location = location(extent);
      if (fences.close(writers.get(i), location, held.contains(location), extent.getForce())) {
        done.addDone(i);
      }
    }
    return Reply.newBuilder().setFencedExtents(done).build();
  }

  private Reply copy(CopyExtents request) throws TakoException {
    Leadership leader = heard(request.getLeader());
    SlabCopy copies = copier;
    if (copies == null) {
      throw new TakoException(Status.UNSUPPORTED, "this server knows no server to copy from");
    }
    Replica target = request.getTarget();
    int slot = slot(target.getArena(), target.getIndex());
    checkSources(request);
    for (Extent extent : request.getExtentsList()) {
      int offset = extent.getOffset();
      boolean inSlab = offset >= 0 && offset < Layout.SLAB_SIZE;
      int begin = target.getIndex() * Layout.SLAB_SIZE;
      if (!inSlab
          || slotOf(new Location(target.getArena(), begin + offset, extent.getCapacity())) != slot
          || extent.getLength() <= 0
          || extent.getLength() > extent.getCapacity()) {
        throw new TakoException(
            Status.INVALID_ARGUMENT,
            "no slab has an extent of %d bytes at %d".formatted(extent.getLength(), offset));
      }
    }
    return Reply.newBuilder().setCopyProgress(copies.ask(slot, leader.getGroup(), request)).build();
  }

  /** Extents that move from another slab. */
  private static void checkSources(CopyExtents request) throws TakoException {
    int count = request.getSourceOffsetsCount();
    boolean valid =
        count == 0
            || (count == request.getExtentsCount()
                && request.getSourcesCount() > 0
                && request.getAttempt() != 0);
    for (int i = 0; i < count && valid; i++) {
      int offset = request.getSourceOffsets(i);
      Extent extent = request.getExtents(i);
      valid =
          extent.getGrant() != 0
              && offset >= 0
              && offset % Layout.UNIT_SIZE == 0
              && (long) offset + extent.getLength() <= Layout.SLAB_SIZE;
    }
    if (!valid) {
      throw new TakoException(
          Status.INVALID_ARGUMENT,
          "extents that move have a source, and each of them a grant and a place in another slab");
    }
  }

  private SlabFences.Writer writer(int group, FencedExtent extent) throws TakoException {
    Location location = location(extent);
    int slot = slotOf(location);
    if (extent.getGrantee() != 0 && extent.getGrant() == 0) {
      throw new TakoException(
          Status.INVALID_ARGUMENT, "a grant to be fenced has no number; numbers begin at 1");
    }
    return new SlabFences.Writer(
        slot,
        group,
        extent.getLease(),
        SlabFences.unitOfSlab(location.offset()),
        location.capacity() / Layout.UNIT_SIZE,
        extent.getGrantee(),
        extent.getGrant());
  }

  private static Location location(FencedExtent extent) {
    return new Location(extent.getArena(), extent.getOffset(), extent.getCapacity());
  }

  /**
   * The slot of the slab that all of an extent is in.
   *
   * @throws TakoException INVALID_ARGUMENT when no slab of the zone can have such an extent
   */
  int slotOf(Location extent) throws TakoException {
    int offset = extent.offset();
    int capacity = extent.capacity();
    int slot = offset < 0 ? -1 : places.slot(extent.arena(), offset / Layout.SLAB_SIZE);
    if (slot >= 0
        && offset % Layout.UNIT_SIZE == 0
        && capacity > 0
        && capacity <= Layout.EXTENT_SIZE_MAX
        && capacity % Layout.UNIT_SIZE == 0) {
      int unit = SlabFences.unitOfSlab(offset);
      if (unit >= places.firstUnit(slot)
          && unit + capacity / Layout.UNIT_SIZE <= places.endUnit(slot)) {
        return slot;
      }
    }
    throw new TakoException(
        Status.INVALID_ARGUMENT, "no slab of this server has an extent at " + extent);
  }

  private int slot(int arena, int index) throws TakoException {
    int slot = places.slot(arena, index);
    if (slot < 0) {
      throw new TakoException(
          Status.INVALID_ARGUMENT,
          "this server has no slab %s of arena %s"
              .formatted(Integer.toUnsignedString(index), Integer.toUnsignedString(arena)));
    }
    return slot;
  }
}
