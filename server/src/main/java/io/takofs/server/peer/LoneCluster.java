package io.takofs.server.peer;

import io.takofs.proto.ClusterMap;
import io.takofs.proto.GroupEntry;
import io.takofs.proto.ServerEntry;

/**
 * A server alone: number 1, with group 1. It believes nobody who says to be another server of its
 * cluster, or to have a session there: there is none, and who were believed could return slabs that
 * have data.
 *
 * <p>Thread rule: any thread.
 */
public final class LoneCluster implements Cluster {
  private static final int SELF = 1;

  private volatile ClusterMap map = mapOf(ServerEntry.getDefaultInstance());

  private static ClusterMap mapOf(ServerEntry self) {
    return ClusterMap.newBuilder()
        .setEpoch(1)
        .setLastServerId(SELF)
        .addServers(self.toBuilder().setId(SELF))
        .addGroups(GroupEntry.newBuilder().setId(1).addMembers(SELF))
        .build();
  }

  /** The map says {@code self} of the server from now on, when it is known where it listens. */
  public void show(ServerEntry self) {
    map = mapOf(self);
  }

  @Override
  public ClusterMap map() {
    return map;
  }

  @Override
  public int serverId() {
    return SELF;
  }
}
