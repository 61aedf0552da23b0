package io.takofs.server.catalog.raft;

import com.google.protobuf.ByteString;
import com.google.protobuf.InvalidProtocolBufferException;
import io.takofs.base.Clock;
import io.takofs.base.TakoException;
import io.takofs.proto.CatalogChange;
import io.takofs.proto.CatalogValues;
import io.takofs.proto.NotCatalogLeader;
import io.takofs.proto.PeerAnswer;
import io.takofs.proto.PeerCall;
import io.takofs.proto.Status;
import java.io.IOException;
import java.util.Collection;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.ratis.proto.RaftProtos.AppendEntriesRequestProto;
import org.apache.ratis.proto.RaftProtos.InstallSnapshotRequestProto;
import org.apache.ratis.proto.RaftProtos.RaftRpcRequestProto;
import org.apache.ratis.proto.RaftProtos.RequestVoteRequestProto;
import org.apache.ratis.proto.RaftProtos.StartLeaderElectionRequestProto;
import org.apache.ratis.protocol.ClientId;
import org.apache.ratis.protocol.Message;
import org.apache.ratis.protocol.RaftClientReply;
import org.apache.ratis.protocol.RaftClientRequest;
import org.apache.ratis.protocol.RaftGroup;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.protocol.RaftPeer;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.protocol.SetConfigurationRequest;
import org.apache.ratis.server.RaftConfiguration;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.storage.RaftStorage;
import org.apache.ratis.thirdparty.com.google.protobuf.AbstractMessage;
import org.apache.ratis.util.ExitUtils;
import org.apache.ratis.util.LifeCycle;

/**
 * Ratis' server in a peer of a catalog.
 *
 * <p>Thread rule: any thread that may wait.
 */
final class RaftPart implements AutoCloseable {
  /** New peers have to catch up meanwhile. */
  private static final long PEERS_CHANGE_NS = TimeUnit.SECONDS.toNanos(20);

  private final RaftServer server;
  private final RaftGroupId catalog;
  private final ClientId client = ClientId.randomId();
  private final AtomicLong calls = new AtomicLong();

  private RaftPart(RaftServer server, RaftGroupId catalog) {
    this.server = server;
    this.catalog = catalog;
  }

  /**
   * Starts the peer of {@code directory}, which is one of a catalog.
   *
   * @param self address of the peer
   */
  static RaftPart start(
      PeerDirectory directory, String self, PeerConnections connections, Clock clock)
      throws IOException {
    ExitUtils.disableSystemExit(); // a catalog that fails is no reason for the server to end
    directory.removeBeginning();
    RaftGroupId catalog = RaftGroupId.valueOf(UUID.fromString(directory.catalog()));
    RaftPeer peer = peer(directory.id(), self);
    RaftServer server =
        RaftServer.newBuilder()
            .setServerId(peer.getId())
            .setGroup(
                directory.isFounder()
                    ? RaftGroup.valueOf(catalog, peer)
                    : RaftGroup.valueOf(catalog))
            .setOption(
                directory.hasLog()
                    ? RaftStorage.StartupOption.RECOVER
                    : RaftStorage.StartupOption.FORMAT)
            .setStateMachineRegistry(id -> new CatalogStateMachine(clock))
            .setProperties(RaftSettings.of(directory.log()))
            .setParameters(TakoRpcType.parameters(made -> new RaftMessages(self, connections)))
            .build();
    server.start();
    directory.started();
    return new RaftPart(server, catalog);
  }

  private static RaftPeer peer(String id, String address) {
    return RaftPeer.newBuilder().setId(id).setAddress(address).build();
  }

  private RaftServer.Division division() throws TakoException {
    try {
      return server.getDivision(catalog);
    } catch (IOException e) {
      throw new TakoException(Status.UNAVAILABLE, "this peer of the catalog stopped: " + e, e);
    }
  }

  /** Whether this peer leads, and knows all that was committed. */
  boolean leads() throws TakoException {
    return division().getInfo().isLeaderReady();
  }

  /** Id of the leader; empty when none is known. */
  String leader() throws TakoException {
    RaftPeerId leader = division().getInfo().getLeaderId();
    return leader == null ? "" : leader.toString();
  }

  /**
   * Whether this peer votes, also when it starts again: Ratis lets one that starts vote only when
   * it is in the last configuration of its log and, while that replaces another, in that one, too.
   */
  boolean votes() throws TakoException {
    RaftConfiguration last = division().getRaftConf();
    return division().getInfo().getLifeCycleState() == LifeCycle.State.RUNNING
        && isIn(last.getCurrentPeers())
        && (last.getPreviousPeers().isEmpty() || isIn(last.getPreviousPeers()));
  }

  private boolean isIn(Collection<RaftPeer> peers) {
    return peers.stream().anyMatch(peer -> peer.getId().equals(server.getId()));
  }

  /** The peers as this one knows them. */
  Collection<RaftPeer> peers() throws TakoException {
    return division().getRaftConf().getCurrentPeers();
  }

  /**
   * Answers a message of Ratis, a change or a question.
   *
   * @param limitNs that a change or a question may take
   * @throws TakoException UNAVAILABLE, also when the outcome of a change is unknown
   */
  PeerAnswer answer(PeerCall call, long limitNs) throws TakoException {
    try {
      return switch (call.getCallCase()) {
        case REQUEST_VOTE -> {
          var vote = RequestVoteRequestProto.parseFrom(call.getRequestVote().toByteArray());
          checkIsMeant(vote.getServerRequest());
          yield ratis(server.requestVote(vote));
        }
        case APPEND_ENTRIES -> {
          var entries = AppendEntriesRequestProto.parseFrom(call.getAppendEntries().toByteArray());
          checkIsMeant(entries.getServerRequest());
          yield ratis(server.appendEntries(entries));
        }
        case INSTALL_SNAPSHOT -> {
          var snapshot =
              InstallSnapshotRequestProto.parseFrom(call.getInstallSnapshot().toByteArray());
          checkIsMeant(snapshot.getServerRequest());
          yield ratis(server.installSnapshot(snapshot));
        }
        case START_ELECTION -> {
          var start =
              StartLeaderElectionRequestProto.parseFrom(call.getStartElection().toByteArray());
          checkIsMeant(start.getServerRequest());
          yield ratis(server.startLeaderElection(start));
        }
        case CHANGE -> leads() ? changed(call.getChange(), limitNs) : notLeader();
        case READ -> leads() ? read(limitNs) : notLeader();
        case DESCRIBE, ADOPT, FOUND, CALL_NOT_SET ->
            throw new TakoException(
                Status.UNSUPPORTED, "a peer of the catalog does not know " + call.getCallCase());
      };
    } catch (TakoException e) {
      throw e;
    } catch (IOException e) {
      throw new TakoException(Status.UNAVAILABLE, "this peer of the catalog cannot: " + e, e);
    }
  }

  /**
   * A peer that lost its directory comes back at its address as another one, and the leader goes on
   * writing to the former one for a while, whose log went further: Ratis does not look whom a
   * message is for, and ends the peer that gets an entry without those before it.
   */
  private void checkIsMeant(RaftRpcRequestProto request) throws TakoException {
    RaftPeerId meant = RaftPeerId.valueOf(request.getReplyId());
    if (!meant.equals(server.getId())) {
      throw new TakoException(
          Status.NOT_FOUND,
          "this is peer %s of the catalog, and not %s, which had its address"
              .formatted(server.getId(), meant));
    }
  }

  private static PeerAnswer ratis(AbstractMessage message) {
    return PeerAnswer.newBuilder().setRatis(ByteString.copyFrom(message.toByteArray())).build();
  }

  private PeerAnswer notLeader() throws TakoException {
    String leader = leader();
    String address =
        peers().stream()
            .filter(peer -> peer.getId().toString().equals(leader))
            .map(RaftPeer::getAddress)
            .findAny()
            .orElse("");
    return PeerAnswer.newBuilder()
        .setNotLeader(NotCatalogLeader.newBuilder().setLeader(address))
        .build();
  }

  private PeerAnswer changed(CatalogChange change, long limitNs) throws IOException {
    Message answer = execute(change.toByteArray(), RaftClientRequest.writeRequestType(), limitNs);
    return PeerAnswer.newBuilder().setVersion(CatalogStateMachine.version(answer)).build();
  }

  private PeerAnswer read(long limitNs) throws IOException {
    Message answer = execute(new byte[0], RaftClientRequest.readRequestType(), limitNs);
    return PeerAnswer.newBuilder().setValues(values(answer)).build();
  }

  private static CatalogValues values(Message answer) throws InvalidProtocolBufferException {
    return CatalogValues.parseFrom(answer.getContent().toByteArray());
  }

  private Message execute(byte[] message, RaftClientRequest.Type type, long limitNs)
      throws IOException {
    RaftClientRequest request =
        RaftClientRequest.newBuilder()
            .setClientId(client)
            .setServerId(server.getId())
            .setGroupId(catalog)
            .setCallId(calls.incrementAndGet())
            .setMessage(
                Message.valueOf(
                    org.apache.ratis.thirdparty.com.google.protobuf.ByteString.copyFrom(message)))
            .setType(type)
            .build();
    return await(server.submitClientRequestAsync(request), limitNs).getMessage();
  }

  private static RaftClientReply await(CompletableFuture<RaftClientReply> under, long limitNs)
      throws TakoException {
    String why;
    try {
      RaftClientReply reply = under.get(limitNs, TimeUnit.NANOSECONDS);
      if (reply.isSuccess()) {
        return reply;
      }
      why = String.valueOf(reply.getException());
    } catch (TimeoutException e) {
      why =
          "no majority of its peers answered in " + TimeUnit.NANOSECONDS.toMillis(limitNs) + " ms";
    } catch (ExecutionException e) {
      why = String.valueOf(e.getCause());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      why = "the server stops";
    }
    throw new TakoException(Status.UNAVAILABLE, "the catalog's leader could not: " + why);
  }

  /**
   * Makes {@code next} the peers of the catalog, if they still are {@code now}; at the leader.
   *
   * @throws TakoException UNAVAILABLE when new peers did not catch up in time, or others meddled
   */
  void setPeers(Collection<RaftPeer> now, Collection<RaftPeer> next) throws IOException {
    SetConfigurationRequest.Arguments peers =
        SetConfigurationRequest.Arguments.newBuilder()
            .setServersInCurrentConf(List.copyOf(now))
            .setServersInNewConf(List.copyOf(next))
            .setMode(SetConfigurationRequest.Mode.COMPARE_AND_SET)
            .build();
    SetConfigurationRequest request =
        new SetConfigurationRequest(
            client, server.getId(), catalog, calls.incrementAndGet(), peers);
    await(server.setConfigurationAsync(request), PEERS_CHANGE_NS);
  }

  @Override
  public void close() throws IOException {
    server.close();
  }
}
