package io.takofs.sim.cluster;

import io.takofs.proto.CopyExtents;
import io.takofs.proto.CopyProgress;
import io.takofs.proto.Reply;
import io.takofs.proto.Request;
import io.takofs.proto.ServerEntry;
import io.takofs.proto.Status;
import io.takofs.server.peer.DataServers;
import java.util.List;
import java.util.function.Consumer;

/** The copies that servers make of extents that move to another slab: counts them. */
final class SimMoves {
  /** A rule that servers break, to see that the simulation finds it; as in the model of moves. */
  enum Wrong {
    NOTHING,
    /** They say that they have all copies as soon as they are asked. */
    MOVE_EARLY,
    /** No fence refuses them. */
    COPY_UNFENCED
  }

  /** Higher than any that is fenced. */
  private static final long NEVER_FENCED = -1;

  private final Wrong wrong;
  private int copied;

  SimMoves(Wrong wrong) {
    this.wrong = wrong;
  }

  /** Extents that servers said to have copied. */
  int copied() {
    return copied;
  }

  /** {@code real}, which break the rule. */
  DataServers of(DataServers real) {
    return new Servers(real);
  }

  private static boolean isMove(Request request) {
    CopyExtents copy = request.getCopyExtents();
    return copy.getSourcesCount() > 0 && copy.getSourceOffsetsCount() > 0;
  }

  /** The request, as a server understands it. */
  private Request understood(Request request) {
    if (wrong != Wrong.COPY_UNFENCED) {
      return request;
    }
    CopyExtents.Builder copy = request.getCopyExtents().toBuilder();
    copy.getExtentsBuilderList().forEach(extent -> extent.setGrant(NEVER_FENCED));
    return Request.newBuilder().setCopyExtents(copy).build();
  }

  /** The reply of a server to {@code request}, as the leader gets it. */
  private Reply told(Request request, Reply reply) {
    if (wrong != Wrong.MOVE_EARLY || reply.getStatus() != Status.OK) {
      copied += reply.getCopyProgress().getDoneCount();
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
      if (isMove(request)) {
        real.call(serverId, understood(request), reply -> answer.accept(told(request, reply)));
      } else {
        real.call(serverId, request, answer);
      }
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
