package io.takofs.server;

import io.takofs.proto.ClusterStatus;
import io.takofs.proto.Reply;
import io.takofs.rpc.IncomingCall;
import io.takofs.rpc.RpcConnection;
import io.takofs.rpc.RpcHandler;
import io.takofs.server.peer.ClusterTopology;
import java.util.List;
import java.util.function.Supplier;

/**
 * Answers the clients of a server that leads no group: with the map, with what the leader said last
 * of the cluster, and with the leader to ask.
 *
 * <p>Thread rule: any thread.
 */
final class FollowerHandler implements RpcHandler {
  private final ClusterTopology cluster;
  private final Supplier<ClusterStatus> status;

  FollowerHandler(ClusterTopology cluster, Supplier<ClusterStatus> status) {
    this.cluster = cluster;
    this.status = status;
  }

  @Override
  public void onCalls(List<IncomingCall> calls) {
    for (IncomingCall call : calls) {
      call.reply(answer(call));
    }
  }

  private Reply answer(IncomingCall call) {
    if (call.request().hasGetClusterStatus()) {
      return Reply.newBuilder().setClusterStatus(status.get()).build();
    }
    return call.request().hasGetClusterMap()
        ? ClusterCalls.map(cluster)
        : ClusterCalls.notExecuted(cluster);
  }

  @Override
  public void onDisconnected(RpcConnection connection) {
    // There is no session that it could have belonged to.
  }
}
