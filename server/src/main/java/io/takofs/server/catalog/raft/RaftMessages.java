package io.takofs.server.catalog.raft;

import com.google.protobuf.ByteString;
import io.takofs.base.TakoException;
import io.takofs.config.ServerList;
import io.takofs.proto.PeerAnswer;
import io.takofs.proto.PeerCall;
import io.takofs.proto.Status;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.Collection;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.apache.ratis.proto.RaftProtos.AppendEntriesReplyProto;
import org.apache.ratis.proto.RaftProtos.AppendEntriesRequestProto;
import org.apache.ratis.proto.RaftProtos.InstallSnapshotReplyProto;
import org.apache.ratis.proto.RaftProtos.InstallSnapshotRequestProto;
import org.apache.ratis.proto.RaftProtos.RaftRpcRequestProto;
import org.apache.ratis.proto.RaftProtos.RequestVoteReplyProto;
import org.apache.ratis.proto.RaftProtos.RequestVoteRequestProto;
import org.apache.ratis.proto.RaftProtos.StartLeaderElectionReplyProto;
import org.apache.ratis.proto.RaftProtos.StartLeaderElectionRequestProto;
import org.apache.ratis.protocol.RaftPeer;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.rpc.RpcType;
import org.apache.ratis.server.RaftServerRpc;
import org.apache.ratis.thirdparty.com.google.protobuf.AbstractMessage;

/**
 * Ratis' messages to other peers, as calls of Tako. Each waits for its answer, on a thread of
 * Ratis; what comes in is {@link CatalogHandler}'s.
 *
 * <p>Thread rule: any thread that may wait.
 */
final class RaftMessages implements RaftServerRpc {
  private static final long LIMIT_NS = TimeUnit.MILLISECONDS.toNanos(RaftSettings.MESSAGE_MS);

  private final String self;
  private final PeerConnections connections;
  private final Map<RaftPeerId, String> addresses = new ConcurrentHashMap<>();

  /**
   * @param self address of this peer
   */
  RaftMessages(String self, PeerConnections connections) {
    this.self = self;
    this.connections = connections;
  }

  @Override
  public RequestVoteReplyProto requestVote(RequestVoteRequestProto request) throws IOException {
    return RequestVoteReplyProto.parseFrom(
        ask(request.getServerRequest(), PeerCall.newBuilder().setRequestVote(bytes(request))));
  }

  @Override
  public AppendEntriesReplyProto appendEntries(AppendEntriesRequestProto request)
      throws IOException {
    return AppendEntriesReplyProto.parseFrom(
        ask(request.getServerRequest(), PeerCall.newBuilder().setAppendEntries(bytes(request))));
  }

  @Override
  public InstallSnapshotReplyProto installSnapshot(InstallSnapshotRequestProto request)
      throws IOException {
    return InstallSnapshotReplyProto.parseFrom(
        ask(request.getServerRequest(), PeerCall.newBuilder().setInstallSnapshot(bytes(request))));
  }

  @Override
  public StartLeaderElectionReplyProto startLeaderElection(StartLeaderElectionRequestProto request)
      throws IOException {
    return StartLeaderElectionReplyProto.parseFrom(
        ask(request.getServerRequest(), PeerCall.newBuilder().setStartElection(bytes(request))));
  }

  private static ByteString bytes(AbstractMessage message) {
    return ByteString.copyFrom(message.toByteArray());
  }

  private byte[] ask(RaftRpcRequestProto to, PeerCall.Builder call) throws TakoException {
    RaftPeerId peer = RaftPeerId.valueOf(to.getReplyId());
    String address = addresses.get(peer);
    if (address == null) {
      throw new TakoException(Status.NOT_FOUND, "the catalog has no peer " + peer);
    }
    PeerAnswer answer = connections.ask(address, call.build(), LIMIT_NS);
    if (!answer.hasRatis()) {
      throw new TakoException(Status.UNAVAILABLE, answer.getNotLeader().getWhy());
    }
    return answer.getRatis().toByteArray();
  }

  @Override
  public void addRaftPeers(Collection<RaftPeer> peers) {
    peers.forEach(peer -> addresses.put(peer.getId(), peer.getAddress()));
  }

  @Override
  public void handleException(RaftPeerId peer, Exception exception, boolean reconnect) {
    // The connection is made again by itself.
  }

  @Override
  public InetSocketAddress getInetSocketAddress() {
    return InetSocketAddress.createUnresolved(ServerList.host(self), ServerList.port(self));
  }

  @Override
  public RpcType getRpcType() {
    return new TakoRpcType();
  }

  @Override
  public void start() {
    // Connections are made with the first call.
  }

  @Override
  public void close() {
    // The connections are their owner's.
  }
}
