package io.takofs.server.namespace.operation;

import io.takofs.base.TakoException;
import io.takofs.proto.AddSlab;
import io.takofs.proto.CloseSlab;
import io.takofs.proto.LeftReplica;
import io.takofs.proto.OpenSlab;
import io.takofs.proto.RemoveSlab;
import io.takofs.proto.Replica;
import io.takofs.proto.ReplicaReturned;
import io.takofs.proto.Reply;
import io.takofs.proto.Slab;
import io.takofs.proto.Status;
import io.takofs.proto.SwitchReplica;
import io.takofs.server.extent.CommittedExtent;
import io.takofs.server.extent.Grant;
import io.takofs.server.extent.GroupSlabs;
import io.takofs.server.extent.Quarantined;
import io.takofs.server.extent.SlabRange;
import io.takofs.server.namespace.state.Context;
import io.takofs.server.namespace.state.DirectoryEntry;
import io.takofs.server.namespace.state.FileExtent;
import io.takofs.server.namespace.state.Lease;
import io.takofs.server.namespace.state.QuotaTable;
import io.takofs.server.namespace.state.State;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/**
 * Slabs come, go, close, open, and change their replicas. Each is refused, and changes nothing,
 * when it was proposed for another version of the slab than there is.
 */
public final class SlabOperation {
  /** Files that one entry keeps from growing: fewer changes than any request may make. */
  private static final int SEALS_MAX = 16;

  private SlabOperation() {}

  public static Reply add(Context context, AddSlab added) throws TakoException {
    GroupSlabs slabs = context.state().slabs();
    if (added.getFirstUnit() < 0
        || added.getFirstUnit() >= added.getEndUnit()
        || added.getEndUnit() > SlabRange.SLAB_UNITS) {
      throw invalid(
          "a slab has units %d to %d of %d"
              .formatted(added.getFirstUnit(), added.getEndUnit(), SlabRange.SLAB_UNITS));
    }
    int copiesMax = context.state().limits().replicationMax();
    if (added.getWanted() < 1
        || added.getWanted() > copiesMax
        || added.getReplicasCount() < 1
        || added.getReplicasCount() > added.getWanted()) {
      throw invalid(
          "a slab has %d of %d replicas; the group keeps at most %d"
              .formatted(added.getReplicasCount(), added.getWanted(), copiesMax));
    }
    Set<Integer> servers = new HashSet<>();
    for (Replica replica : added.getReplicasList()) {
      checkFree(slabs, replica);
      if (!servers.add(replica.getServer())) {
        throw invalid("two replicas of a slab are on server " + replica.getServer());
      }
    }
    if (slabs.size() >= context.state().store.summaryRecordsMax()) {
      throw new TakoException(
          Status.NO_SPACE,
          "the group has %d slabs, and its metadata zone has no room for more; enlarge it"
              .formatted(slabs.size()));
    }
    Slab slab =
        Slab.newBuilder()
            .setId(context.index())
            .setVersion(1)
            .addAllReplicas(added.getReplicasList())
            .setFirstUnit(added.getFirstUnit())
            .setEndUnit(added.getEndUnit())
            .setWanted(added.getWanted())
            .build();
    slabs.put(context.tx(), slab);
    return shown(slab);
  }

  /**
   * A slab of which something is granted, committed or read back stays. What rests there goes with
   * it, and may still be written: its replicas leave with the names of those who may.
   */
  public static Reply remove(Context context, RemoveSlab removed) throws TakoException {
    State state = context.state();
    Slab slab = require(state.slabs(), removed.getId());
    if (!state.isUnused(slab.getId())) {
      throw new TakoException(
          Status.NOT_EMPTY,
          "slab %d has extents; it cannot leave the group".formatted(slab.getId()));
    }
    for (Replica replica : slab.getReplicasList()) {
      LeftReplica left = left(state, slab, replica);
      if (left.getGranteesCount() > 0) {
        state.extents.leave(context.tx(), left);
      }
    }
    for (Quarantined extent : state.extents.quarantinedIn(slab.getId())) {
      state.extents.free(context.tx(), extent);
    }
    state.slabs().remove(context.tx(), slab);
    return Replies.done();
  }

  /**
   * Ends every grant in the slab for good. Its grantees may still write: what was not committed
   * rests, and nothing is added to what was. Of many files that grow in the slab some are sealed by
   * each such entry, and the last one closes it: the pages that one entry may write are few.
   */
  public static Reply close(Context context, CloseSlab closed) throws TakoException {
    State state = context.state();
    Slab slab = require(state.slabs(), closed.getId(), closed.getVersion());
    if (slab.getClosed()) {
      return shown(slab);
    }
    Map<Long, Long> spaceBefore = new HashMap<>();
    int sealed = 0;
    for (CommittedExtent extent : state.extents.committedIn(slab.getId())) {
      Lease lease = state.leases.get(extent.fileId());
      if (lease != null && sealed < SEALS_MAX) {
        long space = space(state, lease);
        if (seal(context, lease, extent.fileOffset())) {
          spaceBefore.putIfAbsent(lease.fileId(), space);
          sealed++;
        }
      }
    }
    Slab after = slab;
    if (sealed < SEALS_MAX) {
      for (Grant grant : state.extents.grantedIn(slab.getId())) {
        if (grant.clientId() == Grant.COPIER) {
          state.extents.revoke(context.tx(), grant, Grant.COPIER, context.timeMs());
          continue;
        }
        Lease lease = state.leases.get(grant.fileId());
        spaceBefore.computeIfAbsent(lease.fileId(), id -> space(state, lease));
        state.extents.close(context.tx(), grant);
      }
      after = slab.toBuilder().setClosed(true).build();
      state.slabs().replace(context.tx(), after);
    }
    if (!state.quotas.isEmpty()) {
      spaceBefore.forEach((file, space) -> uncharge(context, file, slab.getId(), space));
    }
    return shown(after);
  }

  private static long space(State state, Lease lease) {
    return state.quotas.isEmpty() ? 0 : QuotaTable.space(state, file(state, lease).inode());
  }

  /** The file counts no more as what it could have grown to in the slab. */
  private static void uncharge(Context context, long fileId, long slab, long spaceBefore) {
    State state = context.state();
    Lease lease = state.leases.get(fileId);
    DirectoryEntry file = file(state, lease);
    FileExtent last = state.data.last(file.inode());
    FileExtent sealed = last != null && last.range().slab() == slab ? last.seal(0) : last;
    state.quotas.add(
        context.tx(),
        state.quotas.over(lease.parentId()),
        0,
        QuotaTable.space(state, file.inode(), sealed) - spaceBefore);
  }

  private static DirectoryEntry file(State state, Lease lease) {
    return state.tree.get(lease.parentId(), lease.name());
  }

  private static boolean seal(Context context, Lease lease, long fileOffset) {
    FileExtent extent = context.state().data.at(lease.fileId(), fileOffset);
    if (extent.canGrow()) {
      context.state().data.put(context.tx(), lease.fileId(), extent.seal(lease.clientId()));
    }
    return extent.canGrow();
  }

  public static Reply open(Context context, OpenSlab opened) throws TakoException {
    GroupSlabs slabs = context.state().slabs();
    Slab slab = require(slabs, opened.getId(), opened.getVersion());
    Slab after = slab.toBuilder().setClosed(false).build();
    slabs.replace(context.tx(), after);
    return shown(after);
  }

  /** One replica for another, or one more, while nobody can write. */
  public static Reply switchReplica(Context context, SwitchReplica change) throws TakoException {
    GroupSlabs slabs = context.state().slabs();
    Slab slab = require(slabs, change.getId(), change.getVersion());
    if (!slab.getClosed()) {
      throw invalid("slab %d is open; close it before its replicas change".formatted(slab.getId()));
    }
    if (!change.hasJoining()) {
      throw invalid(
          "no replica joins slab %d; one leaves only for another".formatted(slab.getId()));
    }
    checkFree(slabs, change.getJoining());
    Slab.Builder after = slab.toBuilder().setVersion(slab.getVersion() + 1).clearReplicas();
    boolean left = change.getLeaving() == 0;
    for (Replica replica : slab.getReplicasList()) {
      if (replica.getServer() == change.getLeaving()) {
        left = true;
        context.state().extents.leave(context.tx(), left(context.state(), slab, replica));
      } else {
        after.addReplicas(replica);
        if (replica.getServer() == change.getJoining().getServer()) {
          throw invalid(
              "server %d has a replica of slab %d already"
                  .formatted(replica.getServer(), slab.getId()));
        }
      }
    }
    if (!left) {
      throw invalid(
          "server %d has no replica of slab %d".formatted(change.getLeaving(), slab.getId()));
    }
    after.addReplicas(change.getJoining());
    if (after.getReplicasCount() > slab.getWanted()) {
      throw invalid(
          "slab %d has the %d replicas it is to have".formatted(slab.getId(), slab.getWanted()));
    }
    slabs.replace(context.tx(), after.build());
    return shown(after.build());
  }

  /** Extents that are free need no name: all replicas have fenced their grantees. */
  private static LeftReplica left(State state, Slab slab, Replica replica) {
    Set<Long> grantees = new TreeSet<>();
    for (Quarantined extent : state.extents.quarantinedIn(slab.getId())) {
      grantees.add(extent.grantee());
    }
    for (FileExtent extent : state.committedIn(slab.getId())) {
      grantees.add(extent.lateWriter());
    }
    grantees.remove(0L);
    grantees.remove(Grant.COPIER); // it stores under the lease, which ends
    return LeftReplica.newBuilder().setReplica(replica).addAllGrantees(grantees).build();
  }

  /** Forgets a replica that left; does nothing when it is forgotten already. */
  public static Reply returned(Context context, ReplicaReturned returned) {
    context.state().extents.returned(context.tx(), returned.getReplica());
    return Replies.done();
  }

  private static void checkFree(GroupSlabs slabs, Replica replica) throws TakoException {
    Slab other = slabs.at(replica);
    if (replica.getServer() <= 0 || replica.getLease() == 0 || other != null) {
      throw invalid(
          other == null
              ? "a replica names no server or no lease"
              : "slab %d of arena %d of server %d is slab %d of the group already"
                  .formatted(
                      replica.getIndex(), replica.getArena(), replica.getServer(), other.getId()));
    }
  }

  private static Slab require(GroupSlabs slabs, long id) throws TakoException {
    Slab slab = slabs.get(id);
    if (slab == null) {
      throw new TakoException(
          Status.NOT_FOUND, "the group has no slab " + Long.toUnsignedString(id));
    }
    return slab;
  }

  private static Slab require(GroupSlabs slabs, long id, int version) throws TakoException {
    Slab slab = require(slabs, id);
    if (slab.getVersion() != version) {
      throw new TakoException(
          Status.STALE_VERSION,
          "slab %d has version %d by now, not %d"
              .formatted(id, slab.getVersion(), Integer.toUnsignedLong(version)));
    }
    return slab;
  }

  private static Reply shown(Slab slab) {
    return Replies.done().toBuilder().addSlabs(slab).build();
  }

  private static TakoException invalid(String why) {
    return new TakoException(Status.INVALID_ARGUMENT, why);
  }
}
