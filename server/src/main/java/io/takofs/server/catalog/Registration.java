package io.takofs.server.catalog;

import io.takofs.proto.ServerEntry;

/**
 * A server that wants to be in the map.
 *
 * @param clusterId that its pool remembers; 0 for none
 * @param serverId that its pool remembers; 0 for none
 * @param entry what the map will say of it, but for id and state
 */
public record Registration(long clusterId, int serverId, ServerEntry entry) {
  /** {@code host:port} at which clients find it. */
  public String address() {
    return ClusterMaps.address(entry);
  }
}
