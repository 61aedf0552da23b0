package io.takofs.sim.cluster;

import io.takofs.proto.CopyExtents;
import io.takofs.proto.CopyProgress;
import io.takofs.proto.FenceExtents;
import io.takofs.proto.FencedExtents;
import io.takofs.proto.Reply;
import io.takofs.proto.Request;
import io.takofs.proto.ServerEntry;
import io.takofs.proto.Status;
import io.takofs.server.peer.DataServers;
import java.util.List;
import java.util.function.Consumer;

/**
 * The data servers of the leader that is simulated, which may break a rule: what is copied too
 * little, or too early, must be found. Counts the copies of extents that move to another slab.
 */
final class WeakServers {
  /** A rule that servers break, to see that the simulation finds it. */
  enum Weakness {
    NONE,
    /** They say that they have all copies of what moves as soon as they are asked. */
    MOVE_EARLY,
    /** No fence refuses copies of what moves. */
    COPY_UNFENCED,
    /** They say that they have all copies for a new replica as soon as they are asked. */
    COPY_EARLY,
    /** They say that extents are fenced, and do nothing. */
    FENCE_SKIPPED,
    /** They fence all extents but the first of those that they are asked to. */
    FENCE_SOME
  }

  /** Higher than any that is fenced. */
  private static final long NEVER_FENCED = -1;

  private final Weakness weakness;
  private int moved;

  WeakServers(Weakness weakness) {
    this.weakness = weakness;
  }

  /** Extents that servers said to have copied to another slab. */
  int moved() {
    return moved;
  }

  /** {@code real}, which break the rule. */
  DataServers of(DataServers real) {
    return new Servers(real);
  }

  private static boolean isMove(Request request) {
    CopyExtents copy = request.getCopyExtents();
    return copy.getSourcesCount() > 0 && copy.getSourceOffsetsCount() > 0;
  }

  /** Whether what is copied is for a new replica. */
  private static boolean isRepair(Request request) {
    CopyExtents copy = request.getCopyExtents();
    return copy.getSourcesCount() > 0 && copy.getSourceOffsetsCount() == 0;
  }

  /** The request, as a server understands it. */
  private Request understood(Request request) {
    if (request.hasFenceExtents() && fencesLess()) {
      FenceExtents fence = request.getFenceExtents();
      int left = weakness == Weakness.FENCE_SKIPPED ? fence.getExtentsCount() : 1;
      FenceExtents.Builder less = fence.toBuilder().clearExtents();
      less.addAllExtents(fence.getExtentsList().subList(left, fence.getExtentsCount()));
      return request.toBuilder().setFenceExtents(less).build();
    }
    if (weakness != Weakness.COPY_UNFENCED || !isMove(request)) {
      return request;
    }
    CopyExtents.Builder copy = request.getCopyExtents().toBuilder();
    copy.getExtentsBuilderList().forEach(extent -> extent.setGrant(NEVER_FENCED));
    return Request.newBuilder().setCopyExtents(copy).build();
  }

  private boolean fencesLess() {
    return weakness == Weakness.FENCE_SKIPPED || weakness == Weakness.FENCE_SOME;
  }

  /** The reply of a server to {@code request}, as the leader gets it. */
  private Reply told(Request request, Reply reply) {
    if (reply.getStatus() != Status.OK) {
      return reply;
    }
    if (request.hasFenceExtents() && fencesLess()) {
      FencedExtents.Builder all = FencedExtents.newBuilder();
      for (int i = 0; i < request.getFenceExtents().getExtentsCount(); i++) {
        all.addDone(i);
      }
      return Reply.newBuilder().setFencedExtents(all).build();
    }
    boolean early =
        (weakness == Weakness.MOVE_EARLY && isMove(request))
            || (weakness == Weakness.COPY_EARLY && isRepair(request));
    if (!early) {
      moved += isMove(request) ? reply.getCopyProgress().getDoneCount() : 0;
      return reply;
    }
    CopyProgress.Builder all = CopyProgress.newBuilder();
    for (int i = 0; i < request.getCopyExtents().getExtentsCount(); i++) {
      all.addDone(i);
    }
    return Reply.newBuilder().setCopyProgress(all).build();
  }

  private final class Servers implements DataServers {
    private final DataServers real;

    Servers(DataServers real) {
      this.real = real;
    }

    @Override
    public void call(int serverId, Request request, Consumer<Reply> answer) {
      real.call(serverId, understood(request), reply -> answer.accept(told(request, reply)));
    }

    @Override
    public void deliver() {
      real.deliver();
    }

    @Override
    public List<ServerEntry> servers() {
      return real.servers();
    }

    @Override
    public void emptied(int serverId) {
      real.emptied(serverId);
    }
  }
}
