package io.takofs.server;

import io.takofs.base.TakoException;
import io.takofs.layout.Layout;
import io.takofs.proto.Reply;
import io.takofs.proto.Request;
import io.takofs.proto.ServerEntry;
import io.takofs.proto.Status;
import io.takofs.rpc.ConnectionKind;
import io.takofs.rpc.IncomingCall;
import io.takofs.rpc.RpcConnection;
import io.takofs.server.peer.ClusterTopology;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The answers that every server gives, whoever calls and whatever it leads. */
final class ClusterCalls {
  private static final Logger LOG = LoggerFactory.getLogger(ClusterCalls.class);

  private ClusterCalls() {}

  /** Executes one request of a connection. */
  @FunctionalInterface
  interface Execution {
    /**
     * The reply to {@code request}.
     *
     * @throws TakoException when the request is refused
     */
    Reply execute(RpcConnection connection, Request request) throws TakoException;
  }

  /** The reply to {@code call}; a refusal when {@code execution} throws. */
  static Reply answer(IncomingCall call, Execution execution) {
    try {
      return execution.execute(call.connection(), call.request());
    } catch (TakoException e) {
      return refused(e);
    } catch (RuntimeException e) {
      LOG.error("a call of {} failed: {}", call.connection().remoteName(), call.request(), e);
      return refused(Status.INTERNAL, "the server failed: " + e);
    }
  }

  static Reply map(ClusterTopology cluster) {
    if (cluster.map().getServersCount() == 0) {
      return notJoined(cluster);
    }
    return Reply.newBuilder().setClusterMap(cluster.map()).build();
  }

  /** An empty map would say that there is no other server. */
  private static Reply notJoined(ClusterTopology cluster) {
    return refused(Status.UNAVAILABLE, notJoinedText(cluster));
  }

  /** The text of a refusal by a server that has not joined. */
  static String notJoinedText(ClusterTopology cluster) {
    return "the server has not joined its cluster yet"
        + cluster.problem().map(why -> ": " + why).orElse(waitsForCatalog(cluster));
  }

  private static String waitsForCatalog(ClusterTopology cluster) {
    return cluster.listed().isEmpty()
        ? "; try again"
        : ": it asks the first of %s for the catalog; start those that do not run, or try again"
            .formatted(String.join(", ", cluster.listed()));
  }

  /**
   * @throws TakoException UNAVAILABLE while this server cannot tell who belongs to its cluster
   */
  static void checkJoined(ClusterTopology cluster) throws TakoException {
    if (cluster.serverId() == 0) {
      Reply refusal = notJoined(cluster);
      throw new TakoException(refusal.getStatus(), refusal.getMessage());
    }
  }

  /**
   * Grants and leases name places at a server, so whoever means the one that had this address
   * before it lost its pool would do harm to what others keep here.
   *
   * @param meant the server that the caller means
   * @throws TakoException DISCONNECTED when that is another one
   */
  static void checkIsMeant(ClusterTopology cluster, int meant) throws TakoException {
    if (meant != cluster.serverId()) {
      throw new TakoException(
          Status.DISCONNECTED,
          "this is server "
              + cluster.serverId()
              + ", and not server "
              + Integer.toUnsignedString(meant)
              + ", which had its address");
    }
  }

  /** Refuses a call that came while this server did not lead the group: nothing was executed. */
  static Reply notExecuted(ClusterTopology cluster) {
    Reply refusal = notLeader(cluster);
    return refusal.getStatus() == Status.NOT_LEADER
        ? refusal.toBuilder().setNotExecuted(true).build()
        : refusal;
  }

  /**
   * Names the server to ask instead, because this one does not lead the group, or has ceased to
   * lead with the call under way.
   */
  static Reply notLeader(ClusterTopology cluster) {
    if (cluster.serverId() == 0) {
      return notJoined(cluster);
    }
    Optional<ServerEntry> leader =
        cluster
            .leader(ClusterTopology.NAMESPACE_GROUP)
            .filter(known -> known.getId() != cluster.serverId()); // it did, and does no more
    String where =
        leader
            .map(
                server ->
                    "server %d at %s leads it"
                        .formatted(server.getId(), ClusterTopology.endpoint(server)))
            .orElse("its leader is not known here yet");
    String text =
        "server %d does not lead group %d; %s"
            .formatted(cluster.serverId(), ClusterTopology.NAMESPACE_GROUP, where);
    return refused(Status.NOT_LEADER, text).toBuilder()
        .setLeader(leader.map(ServerEntry::getId).orElse(0))
        .build();
  }

  static TakoException unknownSession(long clientId) {
    return new TakoException(
        Status.SESSION_EXPIRED,
        "the server has no session "
            + Long.toHexString(clientId)
            + " on this connection; open a new one");
  }

  static Reply refused(TakoException why) {
    return refused(why.status(), why.getMessage());
  }

  static Reply refused(Status status, String message) {
    return Reply.newBuilder().setStatus(status).setMessage(message).build();
  }

  /** The refusal of an operation that has no place on a connection of {@code kind}. */
  static TakoException misplaced(Request request, ConnectionKind kind) {
    return new TakoException(
        Status.UNSUPPORTED,
        request.getOperationCase() + " is not answered over a connection of kind " + kind);
  }

  /**
   * @param caller who says so, for the error's text
   * @throws TakoException VERSION_MISMATCH when the caller is of another version of Tako
   */
  static void checkVersion(String caller, int protocolVersion, long layoutHash)
      throws TakoException {
    if (protocolVersion != Layout.PROTOCOL_VERSION || layoutHash != Layout.LAYOUT_HASH) {
      throw new TakoException(
          Status.VERSION_MISMATCH,
          String.format(
              "the %s speaks protocol %d with layout %016x, the server protocol %d with layout"
                  + " %016x; run the same version of Tako on both",
              caller, protocolVersion, layoutHash, Layout.PROTOCOL_VERSION, Layout.LAYOUT_HASH));
    }
  }
}
