package io.takofs.server;

import io.takofs.proto.Reply;
import io.takofs.proto.Request;
import io.takofs.server.peer.Cluster;
import io.takofs.server.report.ClusterReport;

/**
 * Adds to replies what is the server's and not the group's: the epoch of the cluster's map, so that
 * clients ask for a newer one, the state of its process, and what the server knows of others.
 *
 * <p>Thread rule: any thread, without the lock of a group.
 *
 * @param process shown in the status
 * @param report of the cluster, which a server's own status is a part of
 */
record ReplyCompletion(Cluster cluster, ProcessReport process, ClusterReport report) {
  Reply complete(Request request, Reply reply) {
    Reply complete = process.complete(reply);
    if (request.hasGetClusterStatus() && complete.hasServerStatus()) {
      complete =
          Reply.newBuilder().setClusterStatus(report.build(complete.getServerStatus())).build();
    }
    // A server alone has no news for anybody.
    return cluster.map().getServersCount() > 1
        ? complete.toBuilder().setMapEpoch(cluster.map().getEpoch()).build()
        : complete;
  }
}
