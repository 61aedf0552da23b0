package io.takofs.server.peer;

import io.takofs.proto.GrantProof;
import io.takofs.proto.OpenServerSession;
import io.takofs.proto.OpenWindows;
import io.takofs.proto.SessionTicket;

/**
 * A cluster to one of its servers: the map, and how servers prove to one another who says
 * something. A cluster without keys signs nothing and believes nobody.
 *
 * <p>Thread rule: any thread.
 */
public interface Cluster extends ClusterTopology {
  /** Proves to the other servers that {@code clientId} has a session with {@code group}. */
  default SessionTicket ticket(long clientId, int group) {
    return SessionTicket.newBuilder().setGroup(group).build();
  }

  /** Whether a leader of this cluster gave {@code ticket} to {@code clientId}. */
  default boolean isGood(SessionTicket ticket, long clientId) {
    return false;
  }

  /**
   * Proves to {@code server} that {@code clientId} may write there.
   *
   * @param window of the client's live grant, without a proof
   */
  default GrantProof proof(OpenWindows.Window window, long clientId, int server) {
    return GrantProof.newBuilder().setServer(server).build();
  }

  /** Whether the leader proved to this server that {@code clientId} may write {@code window}. */
  default boolean isGood(OpenWindows.Window window, long clientId) {
    return false;
  }

  /** {@code session} with the authenticator for the server {@code called}. */
  default OpenServerSession sign(OpenServerSession session, int called) {
    return session;
  }

  /**
   * A number for a server that calls, to be signed by it: nobody can guess it when there are keys;
   * never 0.
   */
  default long challenge() {
    return 1;
  }

  /** Whether a server of this cluster opens {@code session} at this server. */
  default boolean isGood(OpenServerSession session) {
    return false;
  }

  /**
   * Proves to {@code called} that a server of this cluster, {@code caller}, wants to reach its log;
   * 0 without a secret.
   *
   * @param term of the caller
   * @param grant under which it writes; 0 to read
   */
  default long logProof(long term, long grant, int caller, int called) {
    return 0;
  }

  /** Somebody said that {@code server} leads the group. */
  default void heardOfLeader(int server) {}

  /** The group that this server leads keeps nothing at server {@code id} any more. */
  default void emptied(int id) {}
}
