package io.takofs.server.peer;

import io.takofs.config.ServerList;
import io.takofs.proto.ClusterMap;
import io.takofs.proto.GroupEntry;
import io.takofs.proto.ServerEntry;
import java.util.List;
import java.util.Optional;

/**
 * The map of a cluster as this server read it last: nothing here waits for the catalog.
 *
 * <p>Thread rule: any thread.
 */
public interface ClusterTopology {
  /** The group that has the namespace. */
  int NAMESPACE_GROUP = 1;

  /** The map; without servers, and of epoch 0, before this server has joined. */
  ClusterMap map();

  /** This server's id; 0 before it has joined. */
  int serverId();

  /** Why this server has not joined, or does not reach the catalog now. */
  default Optional<String> problem() {
    return Optional.empty();
  }

  /** Returns what somebody should look at on this server, though it has joined. */
  default Optional<String> warning() {
    return Optional.empty();
  }

  /** Why the namespace is on fewer servers than it should be. */
  default Optional<String> groupWarning() {
    return Optional.empty();
  }

  /** What is damaged of what this server keeps of the namespace. */
  default Optional<String> damaged() {
    return Optional.empty();
  }

  /** The servers that this one's configuration lists, {@code host:port}; none of one alone. */
  default List<String> listed() {
    return List.of();
  }

  /** Why the cluster does not take this server in, be it again: it was removed, say. */
  default Optional<String> refusal() {
    return Optional.empty();
  }

  /** Whether another server with a copy of this one's pool has its place in the cluster now. */
  default boolean isReplaced() {
    return false;
  }

  /** The addresses of a server's host in digits, as far as they were looked up. */
  default List<String> addresses(ServerEntry server) {
    return List.of();
  }

  /** The server {@code id}, if the map has it. */
  default Optional<ServerEntry> server(int id) {
    return map().getServersList().stream().filter(server -> server.getId() == id).findAny();
  }

  /** The server that leads {@code group}, as far as the map tells: its first member. */
  default Optional<ServerEntry> leader(int group) {
    return map().getGroupsList().stream()
        .filter(entry -> entry.getId() == group && entry.getMembersCount() > 0)
        .findAny()
        .flatMap(entry -> server(entry.getMembers(0)));
  }

  /**
   * Whether this server leads {@code group}: it has joined, and the map says so. Before, it must
   * neither let clients in nor decide about data, because others may lead.
   */
  default boolean leads(int group) {
    int self = serverId();
    return self != 0 && leader(group).map(ServerEntry::getId).orElse(0) == self;
  }

  /** The term of the leader of {@code group}; 0 when the map does not tell. */
  default long term(int group) {
    return map().getGroupsList().stream()
        .filter(entry -> entry.getId() == group)
        .mapToLong(GroupEntry::getTerm)
        .findAny()
        .orElse(0);
  }

  /** The address of {@code server}: {@code host:port}, with an IPv6 address in brackets. */
  static String endpoint(ServerEntry server) {
    return ServerList.address(server.getHost(), server.getPort());
  }
}
