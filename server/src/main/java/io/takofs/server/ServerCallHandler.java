package io.takofs.server;

import io.takofs.base.TakoException;
import io.takofs.proto.OpenServerSession;
import io.takofs.proto.Reply;
import io.takofs.proto.Request;
import io.takofs.proto.Status;
import io.takofs.rpc.ConnectionKind;
import io.takofs.rpc.IncomingCall;
import io.takofs.rpc.RpcConnection;
import io.takofs.rpc.RpcHandler;
import io.takofs.server.peer.Cluster;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * Answers the leaders of groups at other servers, as soon as they have proved that they are servers
 * of this cluster.
 *
 * <p>Thread rule: any thread.
 */
final class ServerCallHandler implements RpcHandler {
  private final Cluster cluster;
  private final Function<Request, Reply> zone;
  private final Function<Request, Reply> log;
  private final Consumer<IncomingCall> snapshots;
  private final StatusAnswer status;
  private final Runnable afterwards;
  private final Map<RpcConnection, Integer> callers = new ConcurrentHashMap<>();
  private final Map<RpcConnection, Long> challenges = new ConcurrentHashMap<>();

  /** Answers GetServerStatus and GetClusterStatus. */
  @FunctionalInterface
  interface StatusAnswer {
    /**
     * The status.
     *
     * @throws TakoException UNAVAILABLE when the server is stuck; after a bounded time
     */
    Reply answer(Request request) throws TakoException;
  }

  /**
   * @param zone executes what leaders ask of the data zone
   * @param log executes what other members of a group ask of the log
   * @param snapshots takes calls about the checkpoint of this member, and answers them soon
   * @param status answers how this server is, or the cluster
   * @param afterwards runs before calls are answered: what they have closed ends
   */
  ServerCallHandler(
      Cluster cluster,
      Function<Request, Reply> zone,
      Function<Request, Reply> log,
      Consumer<IncomingCall> snapshots,
      StatusAnswer status,
      Runnable afterwards) {
    this.cluster = cluster;
    this.zone = zone;
    this.log = log;
    this.snapshots = snapshots;
    this.status = status;
    this.afterwards = afterwards;
  }

  @Override
  public void onCalls(List<IncomingCall> calls) {
    List<Reply> replies = new ArrayList<>(calls.size());
    for (IncomingCall call : calls) {
      replies.add(isOfSnapshot(call) ? null : ClusterCalls.answer(call, this::execute));
    }
    afterwards.run();
    for (int i = 0; i < replies.size(); i++) {
      if (replies.get(i) == null) {
        snapshots.accept(calls.get(i));
      } else {
        calls.get(i).reply(replies.get(i));
      }
    }
  }

  private boolean isOfSnapshot(IncomingCall call) {
    return callers.containsKey(call.connection())
        && switch (call.request().getOperationCase()) {
          case OPEN_SNAPSHOT, RENEW_SNAPSHOT, CLOSE_SNAPSHOT -> true;
          default -> false;
        };
  }

  private Reply execute(RpcConnection connection, Request request) throws TakoException {
    return switch (request.getOperationCase()) {
      case GET_CLUSTER_MAP -> ClusterCalls.map(cluster);
      case OPEN_SERVER_SESSION -> open(connection, request.getOpenServerSession());
      case LEASE_SLABS, RETURN_SLABS, LIST_SLABS, FENCE_EXTENTS, COPY_EXTENTS -> {
        if (!callers.containsKey(connection)) {
          throw noSession();
        }
        yield zone.apply(request);
      }
      case ASK_LOG, PREPARE_LOG, GRANT_LOG, ADOPT_LOG, EXTEND_LOG, MOVE_LEADER -> {
        if (!callers.containsKey(connection)) {
          throw noSession();
        }
        yield log.apply(request);
      }
      case OPEN_SNAPSHOT, RENEW_SNAPSHOT, CLOSE_SNAPSHOT -> throw noSession();
      case GET_SERVER_STATUS, GET_CLUSTER_STATUS -> {
        if (!callers.containsKey(connection)) {
          throw noSession();
        }
        yield status.answer(request);
      }
      default -> throw ClusterCalls.misplaced(request, ConnectionKind.SERVER);
    };
  }

  private static TakoException noSession() {
    return new TakoException(
        Status.SESSION_EXPIRED, "this connection has no server session; open one first");
  }

  private Reply open(RpcConnection connection, OpenServerSession open) throws TakoException {
    ClusterCalls.checkVersion("calling server", open.getProtocolVersion(), open.getLayoutHash());
    ClusterCalls.checkJoined(cluster);
    long mine = cluster.map().getClusterId();
    if (open.getClusterId() != mine) {
      throw new TakoException(
          Status.PERMISSION_DENIED,
          String.format(
              "%s is of cluster %016x, this server of %016x; correct fs.tako.cluster.servers",
              connection.remoteName(), open.getClusterId(), mine));
    }
    ClusterCalls.checkIsMeant(cluster, open.getCalled());
    if (open.getChallenge() == 0) {
      long drawn = cluster.challenge();
      challenges.put(connection, drawn);
      return Reply.newBuilder().setChallenge(drawn).build();
    }
    Long drawn = challenges.remove(connection); // good once, so that nobody can repeat the call
    if (drawn == null || drawn != open.getChallenge() || !cluster.isGood(open)) {
      throw new TakoException(
          Status.PERMISSION_DENIED,
          connection.remoteName()
              + " cannot prove that it is server "
              + open.getServer()
              + "; fs.tako.cluster.secret.file must be the same on all servers");
    }
    callers.put(connection, open.getServer());
    return Reply.getDefaultInstance();
  }

  @Override
  public void onDisconnected(RpcConnection connection) {
    callers.remove(connection);
    challenges.remove(connection);
  }
}
