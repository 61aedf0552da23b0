package io.takofs.client.internal.session;

import io.takofs.base.TakoException;
import io.takofs.config.ServerList;
import io.takofs.proto.ClusterMap;
import io.takofs.proto.GetClusterMap;
import io.takofs.proto.Request;
import io.takofs.proto.ServerEntry;
import io.takofs.proto.SessionTerms;
import io.takofs.proto.Status;
import java.util.Comparator;
import java.util.List;

/**
 * The cluster's servers, as the newest map has them that the session has been shown. Without one
 * the server is asked when they are first wanted, and again when a server is not in the map. A
 * server that shows none is alone: then it is every server.
 *
 * <p>Thread rule: any thread; a query may make a call.
 */
public final class ClusterView {
  private final Session session;

  /** The server's answer when it was last asked here; null before. */
  private volatile ClusterMap asked;

  ClusterView(Session session) {
    this.session = session;
  }

  /** The entry of server {@code id} as far as is known; null when the map does not have it. */
  ServerEntry known(int id) throws TakoException {
    return find(present(), id);
  }

  /**
   * The entry of server {@code id}, for which another map is asked for if need be; null when there
   * is no map.
   *
   * @throws TakoException UNAVAILABLE when there is a map without it
   */
  ServerEntry find(int id) throws TakoException {
    ClusterMap known = present();
    if (known.getServersCount() == 0) {
      return null;
    }
    ServerEntry entry = find(known, id);
    if (entry == null) {
      entry = find(refresh(), id);
    }
    if (entry == null) {
      throw new TakoException(
          Status.UNAVAILABLE,
          "server "
              + id
              + " has data and is not in the map of the cluster that "
              + session.server()
              + " shows; see tako status");
    }
    return entry;
  }

  /** The servers that are UP, the one that the session is at first. */
  List<ServerEntry> all() throws TakoException {
    ClusterMap known = present();
    int first = sessions(known, session.terms());
    return known.getServersList().stream()
        .filter(entry -> entry.getState() == ServerEntry.State.UP)
        .sorted(Comparator.comparing(entry -> entry.getId() != first))
        .toList();
  }

  /** Whether there is no server but the session's. */
  boolean isAlone() throws TakoException {
    return present().getServersCount() <= 1;
  }

  /** Whether the session can come to another server, because the group has several members. */
  boolean hasSeveralMembers() throws TakoException {
    ClusterMap known = present();
    return known.getGroupsCount() > 0 && known.getGroups(0).getMembersCount() > 1;
  }

  /** Whether server {@code id} is the one that the session is at now. */
  boolean isSessions(int id) throws TakoException {
    ClusterMap known = present(); // which may open the session
    return isSessions(known, id, session.terms());
  }

  /** Whether server {@code id} is the one that the session of these terms is at. */
  boolean isSessions(int id, SessionTerms terms) throws TakoException {
    return isSessions(present(), id, terms);
  }

  private static boolean isSessions(ClusterMap map, int id, SessionTerms terms) {
    return id == 0 || map.getServersCount() == 0 || id == sessions(map, terms);
  }

  /** As {@link #isSessions}, as far as is known without a call. */
  boolean isKnownAsSessions(int id) {
    ClusterMap known = newest();
    return id == 0 || (known != null && isSessions(known, id, session.terms()));
  }

  private ClusterMap present() throws TakoException {
    ClusterMap known = newest();
    return known == null ? refresh() : known;
  }

  /** The newest map that there is without a call; null for none. */
  private ClusterMap newest() {
    ClusterMap shown = session.map();
    ClusterMap answer = asked;
    return shown.getEpoch() > (answer == null ? 0 : answer.getEpoch()) ? shown : answer;
  }

  private ClusterMap refresh() throws TakoException {
    ClusterMap answer;
    try {
      answer =
          session
              .call(
                  "look up the cluster",
                  "",
                  Request.newBuilder().setGetClusterMap(GetClusterMap.getDefaultInstance()))
              .getClusterMap();
    } catch (TakoException e) {
      if (!isUnknownCall(e.status())) {
        throw e;
      }
      answer = ClusterMap.getDefaultInstance();
    }
    asked = answer;
    session.learn(answer);
    return answer;
  }

  /** Whether a server that does not know the call answers so: it is alone. */
  private static boolean isUnknownCall(Status status) {
    return status == Status.INVALID_ARGUMENT
        || status == Status.UNSUPPORTED
        || status == Status.MALFORMED;
  }

  /** The entry of server {@code id}; null when {@code map} does not have it. */
  static ServerEntry find(ClusterMap map, int id) {
    for (ServerEntry entry : map.getServersList()) {
      if (entry.getId() == id) {
        return entry;
      }
    }
    return null;
  }

  /**
   * The server that the session is at, which it says itself; else the only one there is; 0 when
   * nobody says it.
   */
  private static int sessions(ClusterMap map, SessionTerms terms) {
    if (terms.getServer() != 0) {
      return terms.getServer();
    }
    if (map.getGroupsCount() > 0 && map.getGroups(0).getMembersCount() > 0) {
      return map.getGroups(0).getMembers(0);
    }
    return map.getServersCount() == 1 ? map.getServers(0).getId() : 0;
  }

  static String address(ServerEntry entry) {
    return ServerList.address(entry.getHost(), entry.getPort());
  }
}
