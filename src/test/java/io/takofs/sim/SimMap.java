package io.takofs.sim;

import io.takofs.proto.ClusterMap;
import io.takofs.proto.ServerEntry;

/** The map of a cluster as its catalog has it; all servers know it at once. */
public final class SimMap {
  /** The server that leads the namespace, for good. */
  public static final int LEADER = 1;

  private ClusterMap map;

  /** Servers 1 to {@code count}, which listen at {@code sim:1} and so on. */
  public SimMap(int count) {
    ClusterMap.Builder first = ClusterMap.newBuilder().setEpoch(1).setLastServerId(count);
    for (int id = 1; id <= count; id++) {
      first.addServers(entry(id, id));
    }
    first.addGroupsBuilder().setId(1).addMembers(LEADER);
    map = first.build();
  }

  private static ServerEntry.Builder entry(int id, int port) {
    return ServerEntry.newBuilder().setId(id).setPoolId(id).setHost("sim").setPort(port);
  }

  public ClusterMap get() {
    return map;
  }

  /** The id of a server that has lost its pool, and is a new one from now on. */
  int replace(int lost) {
    int id = map.getLastServerId() + 1;
    ClusterMap.Builder next = map.toBuilder().setEpoch(map.getEpoch() + 1).setLastServerId(id);
    for (ServerEntry.Builder server : next.getServersBuilderList()) {
      if (server.getId() == lost) {
        server.setState(ServerEntry.State.LOST);
        next.addServers(entry(id, server.getPort()));
        break;
      }
    }
    map = next.build();
    return id;
  }

  /** Whether a server is there: it has not lost its pool. */
  public boolean isThere(int id) {
    return map.getServersList().stream()
        .anyMatch(server -> server.getId() == id && server.getState() == ServerEntry.State.UP);
  }
}
