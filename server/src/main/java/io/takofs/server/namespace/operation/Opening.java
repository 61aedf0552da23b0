package io.takofs.server.namespace.operation;

import io.takofs.layout.Layout;
import io.takofs.proto.Extent;
import io.takofs.proto.OpenedFile;
import io.takofs.server.extent.Grant;
import io.takofs.server.namespace.state.Context;
import io.takofs.server.namespace.state.DirectoryEntry;
import io.takofs.server.namespace.state.Inode;
import io.takofs.server.namespace.state.Lease;
import io.takofs.server.namespace.state.State;
import java.util.ArrayList;
import java.util.List;

/** Leases and grants, shared by create, append and grant. */
final class Opening {
  /**
   * Bytes and extents of one grant at most: what a lost client can hold back, and a recorded reply.
   */
  private static final long GRANT_MAX = 16 << 20;

  private static final int GRANT_EXTENTS_MAX = 64;

  private Opening() {}

  /**
   * Gives the caller the lease of a file that nobody holds, and the first grants if there are.
   *
   * @param quotas that the file counts against
   */
  static OpenedFile.Builder open(
      Context context, DirectoryEntry file, List<Long> quotas, long grantBytes) {
    State state = context.state();
    Inode inode = file.inode();
    inode.open = true;
    state.tree.put(context.tx(), file);
    state.leases.put(
        context.tx(),
        new Lease(inode.id, context.clientId(), context.index(), file.parentId(), file.name()));
    return OpenedFile.newBuilder()
        .setFile(inode.toInfo())
        .setLeaseEpoch(context.index())
        .addAllGrants(grant(context, inode, quotas, grantBytes));
  }

  /** Grants up to {@code bytes}; fewer or none when the data zone or a quota has not more. */
  static List<Extent> grant(Context context, Inode file, List<Long> quotas, long bytes) {
    // A negative number is an unsigned one beyond any data zone.
    long wanted = bytes < 0 ? GRANT_MAX : Math.min(bytes, GRANT_MAX);
    if (!quotas.isEmpty()) {
      wanted = Math.min(wanted, roomForExtents(context.state(), file, quotas));
    }
    List<Extent> extents = new ArrayList<>();
    long granted = 0;
    for (Grant grant :
        context
            .state()
            .extents
            .grant(
                context.tx(),
                context.clientId(),
                file.id,
                wanted,
                GRANT_EXTENTS_MAX,
                (int) context.index())) {
      extents.add(grant.location().toProto().setGeneration(grant.generation()).build());
      granted += grant.location().capacity();
    }
    context.state().quotas.add(context.tx(), quotas, 0, granted * file.replication);
    return extents;
  }

  /** Bytes in whole units, so that extents for them are not more. */
  private static long roomForExtents(State state, Inode file, List<Long> quotas) {
    long room = state.quotas.room(quotas, GRANT_MAX * file.replication) / file.replication;
    return room - room % Layout.UNIT_SIZE;
  }
}
