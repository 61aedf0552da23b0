package io.takofs.server.namespace.operation;

import io.takofs.base.TakoException;
import io.takofs.layout.Layout;
import io.takofs.proto.Extent;
import io.takofs.proto.GrantExtents;
import io.takofs.proto.Grants;
import io.takofs.proto.Reply;
import io.takofs.proto.Status;
import io.takofs.server.extent.ExtentTable;
import io.takofs.server.extent.Grant;
import io.takofs.server.extent.Quarantined;
import io.takofs.server.extent.SlabRange;
import io.takofs.server.namespace.state.Context;
import io.takofs.server.namespace.state.Inode;
import io.takofs.server.namespace.state.Lease;
import io.takofs.server.namespace.state.QuotaTable;
import io.takofs.server.namespace.state.State;
import java.util.List;

/** Giving a writer space, and taking back what it does not want. */
public final class GrantOperation {
  /** Extents of one file before no more are granted: what closing it may have to take back. */
  private static final int GRANTS_MAX = 256;

  private GrantOperation() {}

  public static Reply grant(Context context, GrantExtents request) throws TakoException {
    Lease lease = Recovery.requireLease(context, request.getFileId(), request.getLeaseEpoch());
    State state = context.state();
    if (request.getBytes() == 0) {
      throw new TakoException(Status.INVALID_ARGUMENT, "a grant of no bytes was asked for");
    }
    Inode file = state.tree.get(lease.parentId(), lease.name()).inode();
    List<Long> quotas = state.quotas.over(lease.parentId());
    long spaceBefore = QuotaTable.space(state, file);
    giveBack(context, file.id, request.getUnusedList(), true);
    giveBack(context, file.id, request.getLeftList(), false);
    state.quotas.add(context.tx(), quotas, 0, QuotaTable.space(state, file) - spaceBefore);
    int held = state.extents.granted(request.getFileId()).size();
    if (held >= GRANTS_MAX) {
      throw new TakoException(
          Status.INVALID_ARGUMENT,
          "file %016x has %d extents granted and none of them committed; commit some first"
              .formatted(request.getFileId(), held));
    }
    List<Extent> granted = Opening.grant(context, file, quotas, request.getBytes());
    if (granted.isEmpty()) {
      // It says so when it is a quota that has no room for the smallest extent.
      state.quotas.charge(context, quotas, 0, (long) Layout.UNIT_SIZE * file.replication);
      throw new TakoException(
          Status.NO_SPACE,
          ("no space for data: of %d MiB there are no %d KiB free for a file of %d copies; delete"
                  + " files, or make a larger pool")
              .formatted(
                  state.extents.capacityBytes() >> 20,
                  Layout.UNIT_SIZE >> 10,
                  state.limits().copies(file.replication)));
    }
    return Reply.newBuilder().setGrants(Grants.newBuilder().addAllExtents(granted)).build();
  }

  private static void giveBack(
      Context context, long fileId, List<Extent> extents, boolean allWritesCompleted) {
    ExtentTable table = context.state().extents;
    for (Extent extent : extents) {
      Grant grant = table.granted(fileId, SlabRange.of(extent));
      if (grant != null && grant.generation() == extent.getGeneration()) {
        giveBack(context, grant, allWritesCompleted);
      }
      Quarantined closed = table.quarantined(SlabRange.of(extent), extent.getGeneration());
      if (closed != null && closed.file() == fileId) {
        table.giveUp(context.tx(), closed, context.timeMs());
      }
    }
  }

  /** The grantee itself ends a grant. */
  static void giveBack(Context context, Grant grant, boolean allWritesCompleted) {
    ExtentTable table = context.state().extents;
    if (allWritesCompleted) {
      table.release(context.tx(), grant);
    } else {
      table.revoke(context.tx(), grant, context.clientId(), context.timeMs());
    }
  }
}
