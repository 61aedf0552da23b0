package io.takofs.server;

import io.takofs.proto.ClusterMap;
import io.takofs.proto.GrantProof;
import io.takofs.proto.OpenServerSession;
import io.takofs.proto.OpenWindows;
import io.takofs.proto.ServerEntry;
import io.takofs.proto.SessionTicket;
import io.takofs.server.catalog.FewMembers;
import io.takofs.server.catalog.Membership;
import io.takofs.server.catalog.Racks;
import io.takofs.server.catalog.ServerSecret;
import io.takofs.server.peer.Cluster;
import io.takofs.server.peer.KnownLeader;
import java.nio.ByteBuffer;
import java.security.SecureRandom;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * The cluster as the catalog shows it to one of its servers.
 *
 * <p>Thread rule: any thread.
 *
 * @param listed as the configuration has them
 * @param leader of the group with the namespace
 * @param damage of what this server keeps of it; empty for none
 * @param groupMembers that the group has where there are as many servers
 */
record MemberCluster(
    List<String> listed,
    Membership membership,
    ServerSecret secret,
    SecureRandom random,
    HostAddresses hosts,
    Racks racks,
    KnownLeader leader,
    Supplier<String> damage,
    int groupMembers)
    implements Cluster {
  @Override
  public ClusterMap map() {
    return membership.map();
  }

  @Override
  public int serverId() {
    return membership.serverId();
  }

  @Override
  public Optional<String> problem() {
    return membership.problem();
  }

  @Override
  public Optional<String> warning() {
    return damaged()
        .map(
            what ->
                what
                    + "; it serves its file data, and keeps the namespace again when the other"
                    + " members go on without it: it comes back by itself as a new one")
        .or(racks::problem);
  }

  @Override
  public Optional<String> groupWarning() {
    return FewMembers.warning(map(), NAMESPACE_GROUP, groupMembers);
  }

  @Override
  public Optional<String> damaged() {
    return Optional.of(damage.get()).filter(what -> !what.isEmpty());
  }

  @Override
  public Optional<String> refusal() {
    return membership.refusal();
  }

  @Override
  public boolean isReplaced() {
    return membership.isReplaced();
  }

  @Override
  public List<String> addresses(ServerEntry server) {
    return hosts.of(server.getHost());
  }

  @Override
  public SessionTicket ticket(long clientId, int group) {
    return membership.keys().ticket(clientId, group);
  }

  @Override
  public boolean isGood(SessionTicket ticket, long clientId) {
    return membership.keys().isGood(ticket, clientId);
  }

  @Override
  public GrantProof proof(OpenWindows.Window window, long clientId, int server) {
    return membership.keys().proof(window, clientId, server);
  }

  @Override
  public boolean isGood(OpenWindows.Window window, long clientId) {
    return membership.keys().isGood(window, clientId, serverId());
  }

  @Override
  public OpenServerSession sign(OpenServerSession session, int called) {
    return secret.sign(session, called);
  }

  @Override
  public long challenge() {
    long drawn = random.nextLong();
    return drawn == 0 ? 1 : drawn;
  }

  @Override
  public boolean isGood(OpenServerSession session) {
    return secret.isGood(session, serverId());
  }

  @Override
  public Optional<ServerEntry> leader(int group) {
    if (leader.server() != 0) {
      return server(leader.server());
    }
    return map().getGroupsList().stream()
        .filter(entry -> entry.getId() == group && entry.getMembersCount() == 1)
        .findAny()
        .flatMap(entry -> server(entry.getMembers(0)));
  }

  @Override
  public void heardOfLeader(int server) {
    leader.heard(server == serverId() ? 0 : server); // it would know that by itself
  }

  @Override
  public long logProof(long term, long grant, int caller, int called) {
    byte[] message =
        ByteBuffer.allocate(2 * Long.BYTES + 2 * Integer.BYTES)
            .putLong(term)
            .putLong(grant)
            .putInt(caller)
            .putInt(called)
            .array();
    byte[] signed = secret.sign(message);
    return signed.length < Long.BYTES ? 0 : ByteBuffer.wrap(signed).getLong();
  }

  @Override
  public void emptied(int id) {
    membership.emptied(id);
  }
}
