package io.takofs.server;

import io.takofs.base.Clock;
import io.takofs.base.Facts;
import io.takofs.base.TakoException;
import io.takofs.base.Undo;
import io.takofs.config.ConfigKeys;
import io.takofs.config.TakoConfig;
import io.takofs.memory.MappedMemory;
import io.takofs.proto.Status;
import io.takofs.server.groups.StaticGroups;
import io.takofs.server.groups.SystemGroups;
import io.takofs.server.http.HttpEndpoint;
import io.takofs.server.loggroup.ServerSettings;
import io.takofs.server.pool.Pool;
import io.takofs.server.pool.PoolMarkers;
import io.takofs.server.pool.PoolStart;
import io.takofs.server.pool.RemoveIpc;
import io.takofs.server.zone.PoolHolds;
import io.takofs.server.zone.ReaderHolds;
import io.takofs.server.zone.ServerDataZone;
import io.takofs.server.zone.SlabTable;
import io.takofs.server.zone.SlabZone;
import io.takofs.transport.shm.ShmTransport;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.ExecutorService;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A data server as a configuration describes it: its pool, its transports, its threads.
 *
 * <p>Thread rule: start and close from one thread.
 */
public final class RunningServer implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(RunningServer.class);

  private final Deque<AutoCloseable> opened = new ArrayDeque<>();
  private final String poolText;
  private ServerTransports transports;

  private boolean serving;

  /** Whether a client may have left something in the pool before the start failed. */
  private boolean used;

  private RunningServer(Path pool) {
    poolText = pool.toString();
  }

  /**
   * Opens the pool, formatting it if there is and was none, replays the log and serves.
   *
   * @param user who runs the server: the superuser
   * @throws IOException saying which part of the configuration or the pool is wrong, and what to do
   */
  public static RunningServer start(TakoConfig config, String user) throws IOException {
    return start(config, user, false);
  }

  /**
   * As {@link #start(TakoConfig, String)}.
   *
   * @param format whether to format an empty pool, where there must be none, even if there was one
   */
  public static RunningServer start(TakoConfig config, String user, boolean format)
      throws IOException {
    try (Undo undo = new Undo()) {
      RunningServer server = new RunningServer(Path.of(config.get(ConfigKeys.POOL_PATH)));
      PoolStart pool = poolStart(config);
      undo.add(() -> server.undoFormat(pool));
      undo.add(server);
      server.open(config, user, pool, format);
      undo.keep();
      return server;
    }
  }

  /** A start that fails leaves no pool of its own, unless somebody used it in the meantime. */
  private void undoFormat(PoolStart pool) throws IOException {
    if (!used) {
      pool.undoFormat();
    }
  }

  private void open(TakoConfig config, String user, PoolStart start, boolean format)
      throws IOException {
    ServerSettings.checkCopies(config);
    ServerSettings settings = ServerSettings.of(config, user);
    SystemGroups groups =
        new SystemGroups(
            new StaticGroups(ServerSettings.groups(config.get(ConfigKeys.GROUPS))), Clock.SYSTEM);
    groups.resolve(user);
    start.formatOnlyIf(() -> ServerTransports.checkAddress(config));
    Pool pool = keep(format ? start.format() : start.open());
    ExecutorService blocking = LookupThreads.create();
    keep(blocking::shutdownNow);
    ExecutorService registering = DaemonThreads.create("tako-registration", 1, Integer.MAX_VALUE);
    keep(registering::shutdown);
    ReaderHolds holds =
        ShmTransport.unavailabilityCause().isEmpty()
            ? keep(new PoolHolds(pool.data()))
            : ReaderHolds.NONE;
    FormerPeers formerPeers = new FormerPeers(pool.shm());
    ServerDataZone zone =
        new ServerDataZone(pool.arenas(), slabs(pool), holds, registering, formerPeers::areThere);
    ClusterPlace place = keep(new ClusterPlace(config, pool));
    MemberPlace member = keep(new MemberPlace(config, pool, place, formerPeers));
    member.open();
    DataServer server =
        new DataServer(
            Clock.SYSTEM,
            settings,
            pool.epoch(),
            zone,
            place.cluster(),
            config.get(ConfigKeys.CONNECTIONS_MAX));
    server.keepCatalog(place.catalogHandler());
    member.join(server, new GroupLookups(groups, blocking), place.servers(zone::handle));
    server.status(); // the first takes long, for classes are loaded; it is nobody's call yet
    // Closed the other way round: listeners, housekeeping, connections, transports.
    ServerTransports made = keep(new ServerTransports());
    keep(server);
    keep(HousekeepingThread.of(server));
    keep(place.copySlabs(zone));
    keep(() -> lookWhetherUsed(server)); // when nobody can connect any more
    keep(made::stopListening);
    made.listen(server, config, pool.shm());
    transports = made;
    keep(member.start(server, made));
    HttpEndpoint http = ServerPages.open(server, uri(), config, user);
    if (http != null) {
      keep(http);
      server.setHttp(http.url());
    }
    place.join(server, uri(), http == null ? "" : http.url());
    Facts.of("uri", uri())
        .and("transports", transportText())
        .and("http", http == null ? "off" : http.url())
        .and("pool", poolText)
        .and("epoch", pool.epoch())
        .info(LOG, "serving");
    serving = true;
  }

  private void lookWhetherUsed(DataServer server) throws TakoException {
    if (!serving) {
      used = true; // if it cannot be told
      used = server.status().getOperationsList().stream().anyMatch(call -> call.getCalls() > 0);
    }
  }

  private static PoolStart poolStart(TakoConfig config) throws IOException {
    Path path = Path.of(config.get(ConfigKeys.POOL_PATH));
    RemoveIpc.ofThisProcess()
        .danger(path)
        .ifPresent(danger -> LOG.warn("{}: {}", danger, RemoveIpc.advice()));
    PoolMarkers markers =
        new PoolMarkers(
            PoolMarkers.directory(config.get(ConfigKeys.STATE_DIR), System.getenv()),
            PoolMarkers.boot(Path.of("/proc")),
            Clock.SYSTEM);
    return new PoolStart(path, ServerSettings.poolSizes(config), markers);
  }

  private static SlabTable slabs(Pool pool) throws TakoException {
    return SlabTable.open(
        SlabZone.of(pool.slabs()), pool.arenas().stream().map(MappedMemory::length).toList());
  }

  private <T extends AutoCloseable> T keep(T resource) {
    opened.push(resource);
    return resource;
  }

  /** The URI at which clients find the server. */
  public URI uri() {
    return transports.uri();
  }

  /** The offered transports, as text for people. */
  public String transportText() {
    return transports.text();
  }

  /** Stops serving, makes a last checkpoint and releases the pool. */
  @Override
  public void close() throws IOException {
    Exception failure = null;
    while (!opened.isEmpty()) {
      try {
        opened.pop().close();
      } catch (Exception e) {
        LOG.error("closing goes on after a failure", e);
        failure = e;
      }
    }
    if (failure != null) {
      throw new TakoException(
          Status.INTERNAL,
          "the server did not stop cleanly (" + failure + "); the next start replays its log",
          failure);
    }
  }
}
