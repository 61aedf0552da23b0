package io.takofs.server;

import com.google.protobuf.ByteString;
import io.takofs.proto.ClusterMap;
import io.takofs.proto.GrantProof;
import io.takofs.proto.GroupEntry;
import io.takofs.proto.OpenServerSession;
import io.takofs.proto.OpenWindows;
import io.takofs.proto.ServerEntry;
import io.takofs.proto.SessionTicket;
import io.takofs.server.peer.Cluster;

/** Two servers, the first of which leads; a secret that a test may get wrong. */
public class TestCluster implements Cluster {
  static final long ID = 0x1234;

  private final int self;
  private final String secret;
  private volatile ClusterMap map;
  private long challenges;

  public TestCluster(int self, String secret) {
    this.self = self;
    this.secret = secret;
    this.map =
        ClusterMap.newBuilder()
            .setClusterId(ID)
            .setEpoch(7)
            .addServers(ServerEntry.newBuilder().setId(1).setHost("leader").setPort(7777))
            .addServers(ServerEntry.newBuilder().setId(2).setHost("127.0.0.1").setPort(1))
            .addGroups(GroupEntry.newBuilder().setId(1).addMembers(1))
            .build();
  }

  /** Server 2 is at {@code endpoint} from now on. */
  void move(String endpoint) {
    int colon = endpoint.lastIndexOf(':');
    ClusterMap.Builder next = map.toBuilder().setEpoch(map.getEpoch() + 1);
    next.getServersBuilder(1)
        .setHost(endpoint.substring(0, colon))
        .setPort(Integer.parseInt(endpoint.substring(colon + 1)));
    map = next.build();
  }

  /** Server 2 is lost, and server 3 is where it was. */
  void replace() {
    ClusterMap.Builder next = map.toBuilder().setEpoch(map.getEpoch() + 1);
    next.addServers(next.getServers(1).toBuilder().setId(3));
    next.getServersBuilder(1).setState(ServerEntry.State.LOST);
    map = next.build();
  }

  @Override
  public ClusterMap map() {
    return map;
  }

  @Override
  public int serverId() {
    return self;
  }

  @Override
  public SessionTicket ticket(long clientId, int group) {
    return SessionTicket.newBuilder()
        .setGroup(group)
        .setAuthenticator(ByteString.copyFromUtf8(secret + clientId))
        .build();
  }

  @Override
  public boolean isGood(SessionTicket ticket, long clientId) {
    return ticket.equals(ticket(clientId, ticket.getGroup()));
  }

  @Override
  public GrantProof proof(OpenWindows.Window window, long clientId, int server) {
    OpenWindows.Window bare = window.toBuilder().clearKey().clearAuthenticator().build();
    return GrantProof.newBuilder()
        .setServer(server)
        .setAuthenticator(bare.toByteString().concat(proofOf(clientId, server)))
        .build();
  }

  private ByteString proofOf(long clientId, int server) {
    return ByteString.copyFromUtf8(secret + clientId + "@" + server);
  }

  @Override
  public boolean isGood(OpenWindows.Window window, long clientId) {
    return window.getAuthenticator().equals(proof(window, clientId, self).getAuthenticator());
  }

  @Override
  public OpenServerSession sign(OpenServerSession session, int called) {
    return session.toBuilder()
        .setAuthenticator(ByteString.copyFromUtf8(secret + session.getChallenge() + called))
        .build();
  }

  @Override
  public long challenge() {
    return ++challenges;
  }

  @Override
  public boolean isGood(OpenServerSession session) {
    return session.equals(sign(session, self));
  }
}
