package io.takofs.server;

import io.takofs.base.Clock;
import io.takofs.base.TakoException;
import io.takofs.base.Undo;
import io.takofs.base.Version;
import io.takofs.proto.ClusterStatus;
import io.takofs.proto.Reply;
import io.takofs.proto.Request;
import io.takofs.proto.ServerStatus;
import io.takofs.proto.Status;
import io.takofs.rpc.ConnectionKind;
import io.takofs.rpc.IncomingCall;
import io.takofs.rpc.RpcHandler;
import io.takofs.rpc.RpcServer;
import io.takofs.rpc.RpcServices;
import io.takofs.server.http.ServerView;
import io.takofs.server.loggroup.GroupState;
import io.takofs.server.loggroup.GroupStorage;
import io.takofs.server.loggroup.Leader;
import io.takofs.server.loggroup.ServerSettings;
import io.takofs.server.member.GroupMember;
import io.takofs.server.peer.Cluster;
import io.takofs.server.peer.ClusterTopology;
import io.takofs.server.peer.DataServers;
import io.takofs.server.report.ClusterReport;
import io.takofs.server.snapshot.SnapshotSource;
import io.takofs.server.zone.DataConnections;
import io.takofs.server.zone.ServerDataZone;
import io.takofs.transport.ConnectionAcceptor;
import io.takofs.transport.Transport;
import java.io.IOException;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/**
 * One server of a cluster over whatever transports it is given: its data zone, and the group that
 * it leads, if it leads one.
 *
 * <p>It has no threads of its own: {@link #tick} is called by {@link HousekeepingThread}, or by a
 * simulation.
 *
 * <p>Thread rule: any thread.
 */
public final class DataServer implements ServerView, AutoCloseable {
  /** Pause between two ticks of a server that leads nothing. */
  private static final long IDLE_NS = TimeUnit.MILLISECONDS.toNanos(250);

  private final SteadyClock clock;
  private final ServerSettings settings;
  private final long epoch;
  private final Cluster cluster;
  private final int maxConnections;
  private final ServerDataZone zone;
  private final ControlClients controlClients;
  private final DataConnectionHandler dataHandler;
  private final ProcessReport processReport;
  private final ClusterReport report;
  private final ReplyCompletion completion;
  private final List<RpcServer> served = new ArrayList<>();

  private volatile RpcHandler catalog; // null of a server that keeps none
  private volatile GroupMember member; // null of one without a log that others reach
  private volatile GroupServer group; // null of a server that leads none
  private volatile Runnable tickWanted = () -> {};
  private volatile boolean closed;

  /**
   * A server that leads nothing yet.
   *
   * @param epoch incarnation of the server, from 1
   * @param maxConnections that carry calls, a transport
   */
  public DataServer(
      Clock clock,
      ServerSettings settings,
      long epoch,
      ServerDataZone zone,
      Cluster cluster,
      int maxConnections) {
    this.clock = new SteadyClock(clock);
    this.processReport = new ProcessReport(this.clock);
    this.settings = settings;
    this.epoch = epoch;
    this.cluster = cluster;
    this.zone = zone;
    this.maxConnections = maxConnections;
    this.controlClients = new ControlClients(this.clock);
    this.report = new ClusterReport(cluster, this.clock);
    report.ownSpace(zone::usage);
    this.completion = new ReplyCompletion(cluster, processReport, report);
    this.dataHandler = new DataConnectionHandler(zone, this::isClient);
  }

  /**
   * Leads the only member of a group from now on, as soon as the map says so; before any transport
   * is added. The log is replayed.
   *
   * @param servers that keep the group's slabs
   * @throws TakoException when the log cannot be applied
   */
  public void lead(GroupStorage storage, GroupLookups lookups, DataServers servers)
      throws TakoException {
    join(storage, new OnlyMember(cluster, storage.epoch()), lookups, servers);
  }

  /**
   * Is a member of a group from now on, and serves its clients while it leads; before any transport
   * is added. The log is replayed.
   *
   * @param storage null when it has no state yet, and gets one by {@link #takeState}
   * @param servers that keep the group's slabs
   * @throws TakoException when the log cannot be applied
   */
  public void join(GroupStorage storage, Leader leader, GroupLookups lookups, DataServers servers)
      throws TakoException {
    GroupState state = new GroupState(clock, settings, storage);
    SnapshotSource source =
        new SnapshotSource(
            ClusterTopology.NAMESPACE_GROUP,
            epoch,
            clock,
            member == null ? transport -> List.of() : member::pages);
    GroupServer leading =
        new GroupServer(
            state, leader, zone, lookups, clock, servers, completion, source, this::bareStatus);
    leading.recover();
    leading.onTickWanted(this::wantTick);
    group = leading;
  }

  /** As {@link GroupServer#giveUpState}. */
  void giveUpState() {
    group.giveUpState();
  }

  /** As {@link GroupServer#takeState}. */
  void takeState(GroupStorage storage) {
    group.takeState(storage);
  }

  /** Lets {@code handler} answer calls to a peer of the catalog; before any transport is added. */
  void keepCatalog(RpcHandler handler) {
    catalog = handler;
  }

  /** Has {@code member} of a group reached by the others; before any transport is added. */
  void keepLog(GroupMember reached) {
    member = reached;
  }

  private boolean isClient(long clientId) {
    GroupServer leading = group;
    return (leading != null && leading.hasSession(clientId)) || controlClients.has(clientId);
  }

  /** Makes a transport listen. */
  @FunctionalInterface
  public interface Listening {
    Transport.Listener listen(ConnectionAcceptor acceptor) throws IOException;
  }

  /**
   * Serves over {@code transport}, which stays its owner's.
   *
   * @return the listener, its owner's as well
   * @throws IOException when it cannot listen, or nothing can be registered; then nothing is left
   */
  public Transport.Listener serve(Transport transport, Listening listening) throws IOException {
    try (Undo undo = new Undo()) {
      dataHandler.exportTo(transport, undo);
      if (member != null) {
        member.exportTo(transport, undo);
      }
      RpcServer rpc = undo.add(new RpcServer(transport, services(), epoch, maxConnections));
      Transport.Listener listener = listening.listen(rpc.acceptor());
      served.add(rpc);
      processReport.add(transport);
      undo.keep();
      return listener;
    }
  }

  /** Whether {@code clientId} has a connection of kind CONTROL at the moment. */
  boolean hasControlConnection(long clientId) {
    return controlClients.isConnected(clientId);
  }

  /** Takes the connections to the data zone. */
  DataConnectionHandler dataHandler() {
    return dataHandler;
  }

  private RpcServices services() {
    RpcHandler clients = group == null ? new FollowerHandler(cluster, this::bareCluster) : group;
    Map<ConnectionKind, RpcHandler> handlers = new EnumMap<>(ConnectionKind.class);
    handlers.put(ConnectionKind.RPC, clients);
    handlers.put(ConnectionKind.CONTROL, new ControlHandler(zone, cluster, controlClients));
    handlers.put(
        ConnectionKind.SERVER,
        new ServerCallHandler(
            cluster,
            zone::handle,
            this::answerMember,
            this::answerTakeover,
            this::answerServer,
            this::finishClosing));
    if (catalog != null) {
      handlers.put(ConnectionKind.CATALOG, catalog);
    }
    return new RpcServices(handlers, dataHandler, member == null ? null : member.door());
  }

  private Reply answerMember(Request request) {
    return member == null
        ? ClusterCalls.refused(Status.UNSUPPORTED, "this server is no member of a group")
        : member.handle(request);
  }

  private void answerTakeover(IncomingCall call) {
    GroupServer leading = group;
    if (leading == null) {
      call.reply(ClusterCalls.refused(Status.UNSUPPORTED, "this server is no member of a group"));
    } else {
      leading.onSnapshotCall(call);
    }
  }

  /** Ends what calls of other servers have closed. */
  private void finishClosing() {
    zone.windows().post();
    wantTick();
  }

  /** Runs {@code listener} when {@link #tick} should be called soon. */
  void onTickWanted(Runnable listener) {
    tickWanted = listener;
  }

  /** Asks for a tick, on any thread: there is something that does not wait for its turn. */
  public void wantTick() {
    tickWanted.run();
  }

  /**
   * The state after a tick.
   *
   * @param pauseNs until the next one is wanted
   * @param failure after which no call may be executed, or null: of the log or of the memory, or
   *     because another server has this one's place
   */
  public record Tick(long pauseNs, String failure) {}

  /**
   * Sends what waited for the commit of entries; to be called, on any thread, when the log may have
   * committed some. A {@link #tick} does it, too.
   */
  public void poll() {
    GroupServer leading = group;
    if (leading != null) {
      leading.poll();
    }
  }

  /** Does what is due. */
  public Tick tick() {
    if (closed) {
      return new Tick(Long.MAX_VALUE, null);
    }
    if (cluster.isReplaced()) {
      // The calls that it would acknowledge now are in no namespace, and its memory is in no slab.
      return new Tick(IDLE_NS, "its place is taken: " + cluster.refusal().orElse("by a copy"));
    }
    DataConnections connections = zone.connections();
    GroupServer leading = group;
    GroupServer.Tick next =
        leading == null ? new GroupServer.Tick(IDLE_NS, null, List.of()) : leading.tick();
    zone.windows().post();
    next.toFence().forEach(connections::fence);
    for (long gone : controlClients.expire(settings.sessionTtl().toNanos())) {
      if (!isClient(gone)) {
        connections.fence(gone);
      }
    }
    connections.sweep();
    return new Tick(next.pauseNs(), next.failure());
  }

  /** As {@link Tick#failure}, for a caller whose tick threw instead. */
  String failure() {
    GroupServer leading = group;
    return leading == null ? null : leading.failure();
  }

  /**
   * Ends all connections and makes a last checkpoint. Listeners are closed by their owner, before.
   */
  @Override
  public void close() {
    served.forEach(RpcServer::close);
    zone.connections().close();
    closed = true;
    GroupServer leading = group;
    if (leading != null) {
      leading.close();
    }
    dataHandler.close();
  }

  // ---- what the server's pages show -------------------------------------------------------------

  /** Says in every status where the server's pages are. */
  void setHttp(String url) {
    processReport.setHttp(url);
  }

  @Override
  public ServerStatus status() throws TakoException {
    GroupServer leading = group;
    Reply reply = leading == null ? bareStatus() : leading.status();
    return processReport.complete(reply).getServerStatus();
  }

  @Override
  public ClusterStatus cluster() throws TakoException {
    return report.build(status());
  }

  /** The report on the cluster, which other servers' answers complete. */
  public ClusterReport clusterReport() {
    return report;
  }

  /**
   * The status of this server or of its cluster, without the fields that only people read. It may
   * be an earlier one: other servers ask on the threads that carry clients' calls.
   */
  Reply answerServer(Request request) throws TakoException {
    GroupServer leading = group;
    Reply now = leading == null ? bareStatus() : leading.statusAtOnce();
    ServerStatus whole = processReport.complete(now).getServerStatus();
    if (request.hasGetClusterStatus()) {
      return Reply.newBuilder().setClusterStatus(report.build(whole)).build();
    }
    ServerStatus status =
        whole.toBuilder()
            .clearConnections()
            .clearConnectionsLeftOut()
            .clearCounters()
            .clearOperations()
            .clearTransports()
            .addAllListed(cluster.listed())
            .setWarning(cluster.warning().orElse(whole.getWarning()))
            .build();
    return Reply.newBuilder().setServerStatus(status).build();
  }

  private ClusterStatus bareCluster() {
    return report.build(processReport.complete(bareStatus()).getServerStatus());
  }

  private Reply bareStatus() {
    return Reply.newBuilder()
        .setServerStatus(
            ServerStatus.newBuilder()
                .setVersion(Version.text())
                .setEpoch(epoch)
                .setUsage(zone.usage()))
        .build();
  }

  @Override
  public Reply query(String user, Request request) throws TakoException {
    GroupServer leading = group;
    if (leading == null) {
      Reply elsewhere = ClusterCalls.notLeader(cluster);
      throw new TakoException(elsewhere.getStatus(), elsewhere.getMessage());
    }
    return leading.query(user, request);
  }

  @Override
  public Optional<String> sickness() {
    if (cluster.serverId() == 0) {
      return Optional.of(ClusterCalls.notJoinedText(cluster));
    }
    Optional<String> refusal = cluster.refusal();
    if (refusal.isPresent()) {
      return refusal;
    }
    if (cluster.damaged().isPresent()) {
      return cluster.warning();
    }
    GroupServer leading = group;
    if (leading != null) {
      return leading.sickness();
    }
    return closed ? Optional.of("the server is stopping") : Optional.empty();
  }
}
