package io.takofs.server;

import io.takofs.base.Clock;
import io.takofs.base.TakoException;
import io.takofs.base.Undo;
import io.takofs.layout.Layout;
import io.takofs.proto.Arenas;
import io.takofs.proto.GetArenas;
import io.takofs.proto.OpenDataSession;
import io.takofs.proto.RemoteArena;
import io.takofs.proto.Reply;
import io.takofs.proto.Request;
import io.takofs.proto.ServerEntry;
import io.takofs.proto.Status;
import io.takofs.rpc.ConnectionInfo;
import io.takofs.rpc.ConnectionKind;
import io.takofs.rpc.RpcClient;
import io.takofs.rpc.RpcTarget;
import io.takofs.server.namespace.state.Ids;
import io.takofs.server.peer.Cluster;
import io.takofs.server.peer.ClusterTopology;
import io.takofs.server.zone.RemoteSlabSource;
import io.takofs.server.zone.SlabSource;
import io.takofs.server.zone.SlabSources;
import io.takofs.transport.Transport;
import io.takofs.transport.select.TransportSelector.Attempt;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * The data zones of the other servers, which this one reaches as a client does: by a connection of
 * kind CONTROL and one of kind DATA. It makes its ticket itself, because every server has the
 * cluster's key, for an id that no client has.
 *
 * <p>Thread rule: one thread.
 */
final class PeerSlabSources implements SlabSources {
  private static final long TIMEOUT_NS = TimeUnit.SECONDS.toNanos(5);

  /** Connects over a transport that reaches the server. */
  @FunctionalInterface
  interface Dialer {
    SlabSource connect(String endpoint, long timeoutNs, Attempt<SlabSource> attempt)
        throws IOException;
  }

  private final Cluster cluster;
  private final Dialer dialer;
  private final Clock clock;

  PeerSlabSources(Cluster cluster, Dialer dialer, Clock clock) {
    this.cluster = cluster;
    this.dialer = dialer;
    this.clock = clock;
  }

  @Override
  public SlabSource open(int serverId) throws TakoException {
    ServerEntry server =
        cluster
            .server(serverId)
            .orElseThrow(
                () ->
                    new TakoException(
                        Status.UNAVAILABLE, "the cluster's map has no server " + serverId));
    try {
      return dialer.connect(
          ClusterTopology.endpoint(server),
          TIMEOUT_NS,
          (transport, endpoint, timeoutNs) -> connect(transport, endpoint, serverId, timeoutNs));
    } catch (TakoException e) {
      throw e;
    } catch (IOException e) {
      throw new TakoException(
          Status.DISCONNECTED, "server " + serverId + " cannot be reached: " + e.getMessage(), e);
    }
  }

  private SlabSource connect(Transport transport, String endpoint, int serverId, long timeoutNs)
      throws IOException {
    long id = Ids.ofServer(cluster.serverId());
    RpcTarget target = new RpcTarget(ConnectionKind.CONTROL, endpoint, "server " + serverId, id);
    try (Undo undo = new Undo()) {
      RpcClient control = undo.add(RpcClient.connect(transport, target, timeoutNs, clock));
      call(control, id, openSession(id, serverId));
      byte[] hello = ConnectionInfo.ours(Layout.CONNECTION_DATA, id, control.epoch(), 0, 0).pack();
      RemoteSlabSource zone =
          new RemoteSlabSource(transport, endpoint, hello, () -> arenas(control, id), clock);
      undo.keep();
      return new Connected(control, zone);
    }
  }

  private Request openSession(long id, int called) {
    return Request.newBuilder()
        .setOpenDataSession(
            OpenDataSession.newBuilder()
                .setProtocolVersion(Layout.PROTOCOL_VERSION)
                .setLayoutHash(Layout.LAYOUT_HASH)
                .setClientId(id)
                .setTicket(cluster.ticket(id, ClusterTopology.NAMESPACE_GROUP))
                .setClientName("server " + cluster.serverId())
                .setServer(called))
        .build();
  }

  /** All arenas; a reply has some of them. */
  private List<RemoteArena> arenas(RpcClient control, long id) throws TakoException {
    List<RemoteArena> all = new ArrayList<>();
    Arenas next;
    do {
      Request request =
          Request.newBuilder().setGetArenas(GetArenas.newBuilder().setFirst(all.size())).build();
      next = call(control, id, request).getArenas();
      if (next.getArenasCount() == 0 || next.getArenas(0).getIndex() != all.size()) {
        throw new TakoException(Status.INTERNAL, "the server shows no arena " + all.size());
      }
      all.addAll(next.getArenasList());
    } while (next.getMore());
    return all;
  }

  private Reply call(RpcClient control, long id, Request request) throws TakoException {
    Reply reply = control.call(id, 0, request, clock.nanoTime() + TIMEOUT_NS);
    if (reply.getStatus() != Status.OK) {
      throw new TakoException(reply.getStatus(), reply.getMessage());
    }
    return reply;
  }

  /** The data zone, admitted as long as the connection for calls is there. */
  private record Connected(RpcClient control, RemoteSlabSource zone) implements SlabSource {
    @Override
    public void prefetch(int arena, int offset, int length) {
      zone.prefetch(arena, offset, length);
    }

    @Override
    public void forget() {
      zone.forget();
    }

    @Override
    public Bytes read(int arena, int offset, int length) throws TakoException {
      return zone.read(arena, offset, length);
    }

    @Override
    public void close() {
      zone.close();
      control.close();
    }
  }
}
