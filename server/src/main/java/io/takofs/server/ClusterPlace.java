package io.takofs.server;

import io.takofs.base.Clock;
import io.takofs.base.TakoException;
import io.takofs.base.Undo;
import io.takofs.base.Version;
import io.takofs.config.ConfigKeys;
import io.takofs.config.ServerList;
import io.takofs.config.TakoConfig;
import io.takofs.layout.Layout;
import io.takofs.memory.MappedMemory;
import io.takofs.proto.Reply;
import io.takofs.proto.Request;
import io.takofs.proto.ServerEntry;
import io.takofs.proto.Status;
import io.takofs.rpc.RpcHandler;
import io.takofs.server.catalog.CatalogFile;
import io.takofs.server.catalog.CatalogState;
import io.takofs.server.catalog.ClusterMaps;
import io.takofs.server.catalog.ConfigStore;
import io.takofs.server.catalog.MapChanges;
import io.takofs.server.catalog.Membership;
import io.takofs.server.catalog.MembershipThread;
import io.takofs.server.catalog.Racks;
import io.takofs.server.catalog.Registration;
import io.takofs.server.catalog.ServerSecret;
import io.takofs.server.cluster.ClusterSetup;
import io.takofs.server.peer.Cluster;
import io.takofs.server.peer.DataServers;
import io.takofs.server.peer.KnownLeader;
import io.takofs.server.peer.LocalDataServer;
import io.takofs.server.peer.LoneCluster;
import io.takofs.server.peer.Patience;
import io.takofs.server.peer.PeerServers;
import io.takofs.server.pool.Pool;
import io.takofs.server.pool.PoolIdentity;
import io.takofs.server.zone.ServerDataZone;
import io.takofs.server.zone.SlabCopyThread;
import io.takofs.server.zone.SlabSources;
import io.takofs.transport.select.TransportSelector;
import io.takofs.transport.tcp.TcpSettings;
import io.takofs.transport.tcp.TcpTransport;
import java.io.IOException;
import java.net.InetAddress;
import java.net.URI;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ScheduledExecutorService;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A server's place in the cluster that its configuration describes: alone, the server with the
 * namespace, which is the first of the list, or one that keeps data.
 *
 * <p>Thread rule: one thread.
 */
final class ClusterPlace implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(ClusterPlace.class);
  private static final Duration SESSION_TTL = Duration.ofSeconds(10);

  /** Pause between two looks at the addresses of the servers' hosts. */
  private static final Duration NAMES_PAUSE = Duration.ofSeconds(30);

  private final TakoConfig config;
  private final Pool pool;
  private final List<String> list;
  private final String self; // host:port in the list; null of a server alone
  private final LoneCluster alone = new LoneCluster();
  private final Racks racks;
  private final TcpTransport tcp;
  private final CatalogPlace catalog; // null alone
  private final MemberCluster member;
  private final TransportSelector sources; // transports to slabs of other servers; null alone
  private final KnownLeader leader = new KnownLeader();
  private PeerServers peers;
  private volatile int metadataPages;
  private volatile String damage = ""; // of the log or the state; empty for none
  private PeerServers memberCalls; // of the member of the group alone
  private MembershipThread thread;
  private ScheduledExecutorService names; // looks up the servers' hosts
  private String http = "";

  /**
   * @throws IOException when the list does not have this server, or the secret cannot be read
   */
  ClusterPlace(TakoConfig config, Pool pool) throws IOException {
    this.config = config;
    this.pool = pool;
    ClusterSetup setup = new ClusterSetup(config);
    this.list = setup.servers();
    this.self = setup.isCluster() ? self(list, config) : null;
    this.racks = new Racks(config.get(ConfigKeys.TOPOLOGY_SCRIPT));
    this.tcp = self == null ? null : new TcpTransport(TcpSettings.DEFAULT);
    this.sources = self == null ? null : new TransportSelector(config);
    this.catalog = self == null ? null : catalogPlace(setup);
    this.member = self == null ? null : membership(setup, catalog.store());
  }

  private CatalogPlace catalogPlace(ClusterSetup setup) throws IOException {
    try (Undo undo = new Undo()) {
      undo.add(tcp);
      undo.add(sources);
      CatalogPlace place =
          new CatalogPlace(
              setup,
              ServerSecret.read(config.get(ConfigKeys.SECRET_FILE)),
              self,
              () -> pool.identity().clusterId() == 0,
              tcp);
      undo.keep();
      return place;
    }
  }

  private static String self(List<String> list, TakoConfig config) throws IOException {
    String host = config.get(ConfigKeys.SERVER_HOST);
    int port = config.get(ConfigKeys.SERVER_PORT);
    ListedHosts hosts = new ListedHosts(list, InetAddress::getByName);
    String self = new SelfInList(list, host, port, hosts::of).find();
    hosts.warning().ifPresent(LOG::warn);
    return self;
  }

  private MemberCluster membership(ClusterSetup setup, ConfigStore store) throws IOException {
    Membership.Settings settings =
        new Membership.Settings(
            config.get(ConfigKeys.CLUSTER_NAME),
            isFirst(),
            String.join(",", list),
            config.get(ConfigKeys.CLOCK_SKEW_MAX),
            SESSION_TTL);
    Membership membership = new Membership(settings, new Self(setup), store, Clock.SYSTEM);
    return new MemberCluster(
        list,
        membership,
        ServerSecret.read(config.get(ConfigKeys.SECRET_FILE)),
        new SecureRandom(),
        new HostAddresses(InetAddress::getAllByName),
        racks,
        leader,
        () -> damage,
        config.get(ConfigKeys.GROUP_MEMBERS));
  }

  /** The server as the catalog shows it, and the pool that remembers which server it is. */
  private final class Self implements Membership.Self {
    private final CatalogFile copy;

    Self(ClusterSetup setup) {
      copy = new CatalogFile(setup.copy(ServerList.port(self)));
    }

    @Override
    public Registration registration() {
      PoolIdentity identity = pool.identity();
      String host = ServerList.host(self);
      return new Registration(
          identity.clusterId(),
          identity.serverId(),
          entry(host, ServerList.port(self)).setRack(racks.of(host)).build());
    }

    @Override
    public void joined(long clusterId, int serverId) {
      pool.join(clusterId, serverId);
    }

    @Override
    public void keep(CatalogState state) {
      try {
        copy.write(state);
      } catch (IOException e) {
        LOG.warn("no copy of the catalog can be kept: {}", e.toString());
      }
    }

    @Override
    public CatalogState kept() {
      try {
        return copy.read();
      } catch (IOException e) {
        LOG.warn("the copy of the catalog cannot be read: {}", e.getMessage());
        return new CatalogState();
      }
    }
  }

  private ServerEntry.Builder entry(String host, int port) {
    return ServerEntry.newBuilder()
        .setPoolId(pool.identity().poolId())
        .setHost(host)
        .setPort(port)
        .setRack(Racks.DEFAULT)
        .setEpoch(pool.epoch())
        .setHttp(http)
        .setVersion(Version.text())
        .setMetadataPages(metadataPages)
        .setDamage(damage)
        .setLogSegments(Math.toIntExact(pool.log().length() / Layout.SEGMENT_SIZE))
        .setDataBytes(pool.arenas().stream().mapToLong(MappedMemory::length).sum());
  }

  Cluster cluster() {
    return member == null ? alone : member;
  }

  /** Answers calls to this server as a peer of the catalog; null where it is none. */
  RpcHandler catalogHandler() {
    return catalog == null ? null : catalog.handler();
  }

  /** Whether there is no other server. */
  boolean isAlone() {
    return self == null;
  }

  /** The leader of the group, as this server's part in it shows it. */
  KnownLeader knownLeader() {
    return leader;
  }

  /** The namespace that is kept here has so many pages; known before this server joins. */
  void setMetadataPages(int pages) {
    metadataPages = pages;
  }

  /** What is damaged of the log or the state here; empty for nothing. */
  void setDamage(String what) {
    damage = what;
  }

  /**
   * Whether a majority of the group is on other servers that are whole, as this one's copy of the
   * catalog says, which may be old.
   */
  boolean othersKeepTheNamespace() {
    return member != null
        && ClusterMaps.goesOnWithout(member.membership().keptMap(), pool.identity().serverId());
  }

  /** Whether the namespace had other members when this server last knew of it. */
  boolean hasOtherMembers() {
    return member != null
        && ClusterMaps.hasOtherMembers(member.membership().keptMap(), pool.identity().serverId());
  }

  /** Takes changes of the cluster's map. */
  MapChanges mapChanges() {
    return member.membership();
  }

  /** Calls to the other members of the group, for its member here alone. */
  PeerServers memberCalls() {
    long missedNs = config.get(ConfigKeys.ELECTION_TIMEOUT).toNanos();
    memberCalls =
        new PeerServers(
            member,
            request -> ClusterCalls.refused(Status.UNSUPPORTED, "a member does not ask itself"),
            tcp,
            Clock.SYSTEM,
            new Patience(2 * missedNs, missedNs));
    return memberCalls;
  }

  /** Whether this server is the first of the list, which begins the cluster. */
  private boolean isFirst() {
    return list.get(0).equals(self);
  }

  /**
   * Refuses a pool that this server would write over: alone, it would lend anew what a cluster has
   * there, and as one that keeps data only, it lends all to the namespace of another.
   *
   * @param hasNamespace whether something of a namespace is in the pool
   * @throws TakoException INVALID_ARGUMENT with what to do
   */
  void checkPool(boolean hasNamespace) throws TakoException {
    PoolIdentity identity = pool.identity();
    if (self == null && identity.clusterId() != 0) {
      throw new TakoException(
          Status.INVALID_ARGUMENT,
          "the pool in %s is of server %d of a cluster, and %s names no server: name the servers of the cluster there; or if nobody needs what it has there, remove its directory, and start the server once with `tako server --format`"
              .formatted(
                  config.get(ConfigKeys.POOL_PATH),
                  identity.serverId(),
                  ConfigKeys.CLUSTER_SERVERS.name()));
    }
    if (self != null && !isFirst() && hasNamespace && identity.clusterId() == 0) {
      throw new TakoException(
          Status.INVALID_ARGUMENT,
          "the pool in %s has a namespace, and %s is not the first server of %s (%s), so its files would be written over: make it the first of a cluster of its own; or copy its files elsewhere, remove the directory, and start the server once with `tako server --format`"
              .formatted(
                  config.get(ConfigKeys.POOL_PATH),
                  self,
                  ConfigKeys.CLUSTER_SERVERS.name(),
                  String.join(",", list)));
    }
  }

  /**
   * The servers that keep data.
   *
   * @param local executes requests to this server's own data zone
   */
  DataServers servers(Function<Request, Reply> local) {
    if (member == null) {
      return new LocalDataServer(alone.map().getServers(0), local);
    }
    peers = new PeerServers(member, local, tcp, Clock.SYSTEM);
    return peers;
  }

  /**
   * Copies slabs of other servers to {@code zone}, and verifies those that are there, when a leader
   * wants it, in the background.
   *
   * @return does that until it is closed
   */
  SlabCopyThread copySlabs(ServerDataZone zone) {
    return new SlabCopyThread(zone.copyFrom(member == null ? nobody() : others(), Clock.SYSTEM));
  }

  private static SlabSources nobody() {
    return server -> {
      throw new TakoException(Status.UNAVAILABLE, "this server is in no cluster");
    };
  }

  private SlabSources others() {
    return new PeerSlabSources(
        member,
        (endpoint, timeoutNs, attempt) ->
            sources.connect(endpoint, timeoutNs, null, attempt).connection(),
        Clock.SYSTEM);
  }

  /**
   * Joins the cluster, now that {@code server} can be reached; that goes on in the background.
   *
   * @param uri that it listens at
   * @param pages URL of its pages; empty for none
   */
  void join(DataServer server, URI uri, String pages) {
    http = pages;
    if (member == null) {
      alone.show(entry(uri.getHost(), uri.getPort()).build());
      return;
    }
    if (peers != null) {
      peers.onAnswered(server::wantTick);
    }
    names = DaemonThreads.every("tako-names", NAMES_PAUSE, this::lookUpNames);
    member.membership().onChange(map -> names.execute(this::lookUpNames));
    thread = new MembershipThread(member.membership());
  }

  private void lookUpNames() {
    member.hosts().refresh(member.map());
  }

  @Override
  public void close() {
    if (catalog != null) {
      catalog.stopAsking();
    }
    if (thread != null) {
      thread.close();
      names.shutdownNow();
    }
    if (member != null) {
      member.membership().close();
    }
    if (peers != null) {
      peers.close();
    }
    if (memberCalls != null) {
      memberCalls.close();
    }
    if (catalog != null) {
      catalog.close();
    }
    if (tcp != null) {
      tcp.close();
      sources.close();
    }
  }
}
