package io.takofs.server.namespace;

import io.takofs.base.TakoException;
import io.takofs.layout.Layout;
import io.takofs.proto.Extent;
import io.takofs.proto.GrantExtents;
import io.takofs.proto.Grants;
import io.takofs.proto.ReleaseExtents;
import io.takofs.proto.Reply;
import io.takofs.proto.Status;
import io.takofs.server.extent.ExtentTable;
import io.takofs.server.extent.Grant;
import io.takofs.server.extent.Location;
import io.takofs.server.extent.Quarantined;
import java.util.List;

/** Giving a writer space, and taking back what it does not want. */
final class GrantOperation {
  private GrantOperation() {}

  static Reply grant(Context context, GrantExtents request) throws TakoException {
    Recovery.requireLease(context, request.getFileId(), request.getLeaseEpoch());
    if (request.getBytes() == 0) {
      throw new TakoException(Status.INVALID_ARGUMENT, "a grant of no bytes was asked for");
    }
    List<Extent> granted = Opening.grant(context, request.getFileId(), request.getBytes());
    if (granted.isEmpty()) {
      throw new TakoException(
          Status.NO_SPACE,
          "no space for data: none of %d MiB is free in extents of %d KiB; delete files or enlarge the pool"
              .formatted(context.state().extents.capacityBytes() >> 20, Layout.UNIT_SIZE >> 10));
    }
    return Reply.newBuilder().setGrants(Grants.newBuilder().addAllExtents(granted)).build();
  }

  /**
   * Takes back grants of the caller. Of one that was taken from it already, it may say that its
   * writes have completed, so that only readers are waited for.
   */
  static Reply release(Context context, ReleaseExtents request) {
    ExtentTable table = context.state().extents;
    for (Extent extent : request.getExtentsList()) {
      Location location = Location.of(extent);
      Grant grant = table.granted(request.getFileId(), location);
      if (grant != null) {
        if (grant.clientId() == context.clientId()
            && grant.generation() == extent.getGeneration()) {
          giveBack(context, grant, request.getAllWritesCompleted());
        }
      } else if (request.getAllWritesCompleted()) {
        Quarantined resting = table.quarantined(location, extent.getGeneration());
        if (resting != null && resting.grantee() == context.clientId()) {
          table.letGo(context.tx(), resting);
        }
      }
    }
    return Replies.done();
  }

  /** The grantee itself ends a grant. */
  static void giveBack(Context context, Grant grant, boolean allWritesCompleted) {
    ExtentTable table = context.state().extents;
    if (allWritesCompleted) {
      table.release(context.tx(), grant);
    } else {
      table.revoke(context.tx(), grant, 0, context.timeMs());
    }
  }
}
