package io.takofs.server;

import io.takofs.base.TakoException;
import io.takofs.proto.Arenas;
import io.takofs.proto.OpenDataSession;
import io.takofs.proto.Reply;
import io.takofs.proto.Request;
import io.takofs.proto.Status;
import io.takofs.rpc.ConnectionKind;
import io.takofs.rpc.IncomingCall;
import io.takofs.rpc.RpcConnection;
import io.takofs.rpc.RpcHandler;
import io.takofs.server.peer.Cluster;
import io.takofs.server.zone.ServerDataZone;
import java.util.List;

/**
 * Answers clients whose session is at another server: they prove it with a ticket, and then reach
 * the data zone as the clients of this server do.
 *
 * <p>Thread rule: any thread.
 */
final class ControlHandler implements RpcHandler {
  /** Arenas that one reply describes at most: 26 bytes each, besides the path of the pool. */
  private static final int ARENAS_MAX = 64;

  private final ServerDataZone zone;
  private final Cluster cluster;
  private final ControlClients clients;
  private final WindowCalls windowCalls;

  ControlHandler(ServerDataZone zone, Cluster cluster, ControlClients clients) {
    this.zone = zone;
    this.cluster = cluster;
    this.clients = clients;
    this.windowCalls = new WindowCalls(zone, cluster);
  }

  @Override
  public void onCalls(List<IncomingCall> calls) {
    for (IncomingCall call : calls) {
      if (call.request().hasOpenWindows()) {
        openWindows(call);
      } else {
        call.reply(ClusterCalls.answer(call, this::execute));
      }
    }
  }

  private void openWindows(IncomingCall call) {
    Reply refusal =
        ClusterCalls.answer(
            call,
            (connection, request) -> {
              windowCalls.open(call, client(connection));
              return null;
            });
    if (refusal != null) {
      call.reply(refusal);
    }
  }

  private Reply execute(RpcConnection connection, Request request) throws TakoException {
    return switch (request.getOperationCase()) {
      case GET_CLUSTER_MAP -> ClusterCalls.map(cluster);
      case OPEN_DATA_SESSION -> open(connection, request.getOpenDataSession());
      case GET_ARENAS -> {
        int first = request.getGetArenas().getFirst();
        Arenas arenas = zone.describe(client(connection), first, ARENAS_MAX);
        yield Reply.newBuilder().setArenas(arenas).build();
      }
      default -> throw ClusterCalls.misplaced(request, ConnectionKind.CONTROL);
    };
  }

  private Reply open(RpcConnection connection, OpenDataSession open) throws TakoException {
    ClusterCalls.checkVersion("client", open.getProtocolVersion(), open.getLayoutHash());
    ClusterCalls.checkJoined(cluster);
    if (open.getClientId() == 0) {
      throw new TakoException(
          Status.INVALID_ARGUMENT, "a data session needs the session that the leader gave");
    }
    if (!cluster.isGood(open.getTicket(), open.getClientId())) {
      throw new TakoException(
          Status.PERMISSION_DENIED,
          "the ticket of session "
              + Long.toHexString(open.getClientId())
              + " is not of this cluster, or its key is too old; resume the session at its leader"
              + " for another one");
    }
    ClusterCalls.checkIsMeant(cluster, open.getServer());
    clients.bind(connection, open.getClientId());
    return Reply.getDefaultInstance();
  }

  private long client(RpcConnection connection) throws TakoException {
    long clientId = clients.of(connection);
    if (clientId == 0) {
      throw new TakoException(
          Status.SESSION_EXPIRED, "this connection has no data session; open one first");
    }
    return clientId;
  }

  @Override
  public void onDisconnected(RpcConnection connection) {
    clients.unbind(connection);
  }
}
