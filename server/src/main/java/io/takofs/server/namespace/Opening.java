package io.takofs.server.namespace;

import io.takofs.proto.Extent;
import io.takofs.proto.OpenedFile;
import io.takofs.server.extent.Grant;
import java.util.ArrayList;
import java.util.List;

/** What create, append and grant share: leases and grants. */
final class Opening {
  /**
   * Bytes and extents of one grant at most: what a lost client can hold back, and a recorded reply.
   */
  private static final long GRANT_MAX = 16 << 20;

  private static final int GRANT_EXTENTS_MAX = 64;

  private Opening() {}

  /** Gives the caller the lease of a file that nobody holds, and the first grants if there are. */
  static OpenedFile.Builder open(Context context, DirectoryEntry file, long grantBytes) {
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
        .addAllGrants(grant(context, inode.id, grantBytes));
  }

  /** Grants up to {@code bytes}; fewer or none when the data zone has not more. */
  static List<Extent> grant(Context context, long fileId, long bytes) {
    // A negative number is an unsigned one beyond any data zone.
    long wanted = bytes < 0 ? GRANT_MAX : Math.min(bytes, GRANT_MAX);
    List<Extent> extents = new ArrayList<>();
    for (Grant grant :
        context
            .state()
            .extents
            .grant(
                context.tx(),
                context.clientId(),
                fileId,
                wanted,
                GRANT_EXTENTS_MAX,
                (int) context.index())) {
      extents.add(grant.location().toProto().setGeneration(grant.generation()).build());
    }
    return extents;
  }
}
