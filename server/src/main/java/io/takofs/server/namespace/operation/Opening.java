package io.takofs.server.namespace.operation;

import io.takofs.base.TakoException;
import io.takofs.layout.Layout;
import io.takofs.proto.Caller;
import io.takofs.proto.Create;
import io.takofs.proto.Extent;
import io.takofs.proto.OpenedFile;
import io.takofs.proto.Request;
import io.takofs.server.extent.Grant;
import io.takofs.server.extent.Wanted;
import io.takofs.server.namespace.state.Context;
import io.takofs.server.namespace.state.DirectoryEntry;
import io.takofs.server.namespace.state.FilePath;
import io.takofs.server.namespace.state.Inode;
import io.takofs.server.namespace.state.Lease;
import io.takofs.server.namespace.state.State;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/** Leases and grants, shared by create, append and grant. */
public final class Opening {
  /**
   * Bytes and extents of one grant at most: what a lost client can hold back, and a recorded reply.
   */
  public static final long GRANT_MAX = 16 << 20;

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
    Wanted space =
        new Wanted(
            wanted,
            GRANT_EXTENTS_MAX,
            context.state().limits().copies(file.replication),
            context.entry().getNearServer(),
            Set.copyOf(context.entry().getAvoidedServersList()));
    for (Grant grant :
        context
            .state()
            .extents
            .grant(context.tx(), context.clientId(), file.id, context.index(), space)) {
      extents.add(grant.toProto());
      granted += grant.range().capacity();
    }
    context.state().quotas.add(context.tx(), quotas, 0, granted * file.replication);
    return extents;
  }

  /** As {@code StateMachine.copies}. */
  public static int copies(State state, Caller caller, Request request) {
    if (state.limits().replicationMax() == 1) {
      return 1;
    }
    return switch (request.getOperationCase()) {
      case CREATE -> state.limits().copies(replication(state, request.getCreate()));
      case APPEND -> copies(state, caller, request.getAppend().getPath());
      case GRANT_EXTENTS -> {
        Lease lease = state.leases.get(request.getGrantExtents().getFileId());
        DirectoryEntry file = lease == null ? null : state.tree.get(lease.parentId(), lease.name());
        yield file == null ? 0 : state.limits().copies(file.inode().replication);
      }
      default -> 0;
    };
  }

  /** The replication that a new file records. */
  static int replication(State state, Create request) {
    return request.getReplication() == 0
        ? state.limits().defaultReplication()
        : request.getReplication();
  }

  private static int copies(State state, Caller caller, String path) {
    try {
      DirectoryEntry file = state.tree.lookupFile(FilePath.parse(path), caller);
      return state.limits().copies(file.inode().replication);
    } catch (TakoException e) {
      return 0; // the request is refused for the same reason
    }
  }

  /** Bytes in whole units, so that extents for them are not more. */
  private static long roomForExtents(State state, Inode file, List<Long> quotas) {
    long room = state.quotas.room(quotas, GRANT_MAX * file.replication) / file.replication;
    return room - room % Layout.UNIT_SIZE;
  }
}
