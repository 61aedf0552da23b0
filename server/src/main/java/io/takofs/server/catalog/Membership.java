package io.takofs.server.catalog;

import com.google.protobuf.InvalidProtocolBufferException;
import io.takofs.base.Clock;
import io.takofs.base.Facts;
import io.takofs.base.TakoException;
import io.takofs.proto.ClusterMap;
import io.takofs.proto.ServerEntry;
import io.takofs.proto.Status;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * This server's place in the cluster, and what it knows of the others: it joins, holds its session,
 * and reads the map again and again. What serves clients uses the map that was read last and waits
 * for nothing.
 *
 * <p>It has no thread of its own: {@link #tick} is called by {@link MembershipThread}, or by a
 * simulation.
 *
 * <p>Thread rule: {@link #tick} and {@link #close} on threads that may wait for the catalog; all
 * else on any.
 */
public final class Membership implements MapChanges, AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(Membership.class);

  /** Pause between two looks at the map, and between two attempts to join. */
  static final long PAUSE_NS = Duration.ofSeconds(1).toNanos();

  /**
   * Time after which a server that starts goes on with its copy of the catalog, though it may ask
   * for much longer: this server may be the one that a majority of the group waits for.
   */
  private static final Duration PATIENCE = Duration.ofSeconds(2);

  /** Pause between two comparisons of the server with its entry in the map. */
  private static final long REGISTRATION_NS = Duration.ofMinutes(1).toNanos();

  private static final long COMPLAINT_NS = Duration.ofMinutes(1).toNanos();

  private final Settings settings;
  private final Self self;
  private final CatalogClient catalog;
  private final Clock clock;
  private final List<Consumer<ClusterMap>> listeners = new CopyOnWriteArrayList<>();
  private final Set<Integer> emptied = ConcurrentHashMap.newKeySet(); // servers
  private final Map<String, CatalogClient.MapChange> requested = new ConcurrentHashMap<>();
  private volatile Runnable tickWanted = () -> {};

  private volatile State state = State.OUTSIDE;
  private volatile String problem;
  private volatile String refusal;
  private volatile boolean replaced;

  private Session session = Session.NONE;
  private long renewedNs;
  private CatalogState kept = new CatalogState();
  private Registration registered;
  private long registeredNs;
  private String complaint;
  private long complainedNs;

  /**
   * The settings with which a server joins.
   *
   * @param name of a cluster that it initialises
   * @param first whether it initialises an empty catalog: the first server of the list does
   * @param servers the list, for messages
   * @param skewMax difference of its clock and the catalog's at most
   * @param ttl of its session
   */
  public record Settings(
      String name, boolean first, String servers, Duration skewMax, Duration ttl) {}

  /** The server that joins. */
  public interface Self {
    /** The registration of the server as it is now. */
    Registration registration();

    /** Writes the server's identity down, durably. */
    void joined(long clusterId, int serverId);

    /** Writes a copy of the catalog down, for a start while the catalog is away. */
    void keep(CatalogState copy);

    /** The copy that was written last; an empty one when there is none, or it is no good. */
    CatalogState kept();
  }

  /** The values that change together. */
  private record State(ClusterMap map, int serverId, ClusterKeys keys) {
    static final State OUTSIDE = new State(ClusterMap.getDefaultInstance(), 0, ClusterKeys.NONE);
  }

  private record Session(String key, long version) {
    static final Session NONE = new Session("", ConfigStore.ABSENT);

    boolean isNone() {
      return key.isEmpty();
    }
  }

  /**
   * @param store which stays its owner's
   */
  public Membership(Settings settings, Self self, ConfigStore store, Clock clock) {
    this.settings = settings;
    this.self = self;
    this.catalog = new CatalogClient(store);
    this.clock = clock;
  }

  /** The map that was read last; without servers, and of epoch 0, before the server has joined. */
  public ClusterMap map() {
    return state.map;
  }

  /** The map of the copy that this server wrote last; without servers when it has none. */
  public ClusterMap keptMap() {
    try {
      ClusterMap copied = CatalogClient.news(self.kept()).map();
      return copied == null ? ClusterMap.getDefaultInstance() : copied;
    } catch (TakoException e) {
      LOG.warn("the copy of the catalog is of no use: {}", e.getMessage());
      return ClusterMap.getDefaultInstance();
    }
  }

  /** This server's number; 0 before it has joined. */
  public int serverId() {
    return state.serverId;
  }

  /** The cluster's keys as they were read last. */
  public ClusterKeys keys() {
    return state.keys;
  }

  /** The reason why the server has not joined, or does not reach the catalog. */
  public Optional<String> problem() {
    return Optional.ofNullable(problem);
  }

  /** The reason why the cluster does not take the server in, be it again; not that none answers. */
  public Optional<String> refusal() {
    return Optional.ofNullable(refusal);
  }

  /** Whether the server had joined, and another one with a copy of its pool has its place now. */
  public boolean isReplaced() {
    return replaced;
  }

  /**
   * The group keeps nothing at server {@code id} any more. One that is DECOMMISSIONING is
   * DECOMMISSIONED with a next {@link #tick}.
   */
  public void emptied(int id) {
    emptied.add(id);
  }

  /**
   * Tells {@code listener} of each map that is another than the one before, in order, on the thread
   * that reads it; of the present one at once. It must return soon.
   */
  public void onChange(Consumer<ClusterMap> listener) {
    listeners.add(listener);
    if (serverId() != 0) {
      listener.accept(map());
    }
  }

  @Override
  public void request(String what, CatalogClient.MapChange change) {
    requested.put(what, change);
    tickWanted.run();
  }

  /** Runs {@code listener} when {@link #tick} should be called soon. */
  void onTickWanted(Runnable listener) {
    tickWanted = listener;
  }

  /**
   * Joins, or keeps the session and reads the map.
   *
   * @return nanoseconds until it is wanted again
   */
  public synchronized long tick() {
    boolean mayHaveCopy = state.serverId == 0 && self.registration().serverId() != 0;
    if (mayHaveCopy && !catalog.answersWithin(PATIENCE)) {
      takeKept();
    }
    try {
      if (session.isNone()) {
        join();
      } else {
        keep();
      }
      problem = null;
      refusal = null;
      replaced = false;
      complaint = null;
    } catch (TakoException e) {
      problem = e.getMessage();
      refusal = session.isNone() && e.status() != Status.UNAVAILABLE ? problem : null;
      replaced = session.isNone() && serverId() != 0 && e.status() == Status.ALREADY_EXISTS;
      complain(e);
      if (state.serverId == 0 && e.status() == Status.UNAVAILABLE) {
        takeKept();
      }
    }
    return Math.min(PAUSE_NS, settings.ttl.toNanos() / 3);
  }

  private void join() throws TakoException {
    checkClock();
    Registration me = self.registration();
    ClusterMap map = catalog.map();
    if (map == null) {
      initialise(me);
    } else {
      catalog.checkProtocol();
    }
    int id = number(me);
    openSession(id, me);
    map = registerWithSession(me);
    self.joined(map.getClusterId(), id);
    Facts.of("cluster", map.getName())
        .and("server", id)
        .and("epoch", map.getEpoch())
        .and("catalog", catalog.description())
        .info(LOG, "this server has joined the cluster");
    CatalogClient.News news = catalog.news();
    keepCopy(news); // first: who sees that it has joined may take the catalog away
    take(new State(map, id, news.keys()));
  }

  private void keepCopy(CatalogClient.News news) {
    if (!news.copy().hasValuesOf(kept)) {
      self.keep(news.copy());
      kept = news.copy();
    }
  }

  /** The server's number; a pool that the map does not have gets one. */
  private int number(Registration me) throws TakoException {
    ClusterMap map = catalog.requireMap();
    registered(map, me); // What speaks against it is found before the session is taken.
    Optional<Integer> known = number(map, me);
    return known.isPresent() ? known.get() : idOf(register(me), me);
  }

  private void openSession(int id, Registration me) throws TakoException {
    String key = CatalogClient.sessionKey(id);
    session = new Session(key, catalog.openSession(key, me, settings.ttl));
    renewedNs = clock.nanoTime();
  }

  /**
   * The entry follows the session, which one process gets: another server with the same pool could
   * take over an entry that has no session yet.
   */
  private ClusterMap registerWithSession(Registration me) throws TakoException {
    try {
      return register(me);
    } catch (TakoException e) {
      close(); // It would keep out others with the pool.
      throw e;
    }
  }

  /**
   * Takes the copy of the catalog that this server wrote last, while there is no catalog, so that
   * it serves what it keeps, and takes part in the group: an old configuration harms nobody.
   */
  private void takeKept() {
    Registration me = self.registration();
    if (me.serverId() == 0) {
      return;
    }
    try {
      CatalogClient.News news = CatalogClient.news(self.kept());
      if (news.map() != null
          && news.map().getClusterId() == me.clusterId()
          && isIn(news.map(), me)) {
        kept = news.copy();
        take(new State(news.map(), me.serverId(), news.keys()));
        Facts.of("cluster", news.map().getName())
            .and("server", me.serverId())
            .and("epoch", news.map().getEpoch())
            .info(LOG, "the catalog is away: this server goes on with its copy of it");
      }
    } catch (TakoException e) {
      LOG.warn("the copy of the catalog is of no use: {}", e.getMessage());
    }
  }

  /** Whether the map has this server, with this pool, at this address. */
  private static boolean isIn(ClusterMap map, Registration me) {
    return map.getServersList().stream()
        .anyMatch(
            each ->
                each.getId() == me.serverId()
                    && each.getPoolId() == me.entry().getPoolId()
                    && each.getState() != ServerEntry.State.LOST
                    && ClusterMaps.address(each).equals(me.address()));
  }

  private ClusterMap register(Registration me) throws TakoException {
    ClusterMap map = catalog.change(now -> registered(now, me));
    registered = me;
    registeredNs = clock.nanoTime();
    return map;
  }

  /** Registers again when the entry has changed, as by a rack that could not be told before. */
  private void registerNews(long now) throws TakoException {
    if (now - registeredNs < REGISTRATION_NS) {
      return;
    }
    Registration me = self.registration();
    registeredNs = clock.nanoTime();
    if (!me.entry().equals(registered.entry())) {
      register(me);
    }
  }

  /** The first server has the namespace. */
  private ClusterMap registered(ClusterMap map, Registration me) throws TakoException {
    ClusterMap next = ClusterMaps.register(map, me, catalog::holder);
    return settings.first && next.getGroupsCount() == 0
        ? ClusterMaps.addGroup(next, List.of(idOf(next, me)))
        : next;
  }

  private static int idOf(ClusterMap map, Registration me) {
    return number(map, me).orElseThrow();
  }

  private static Optional<Integer> number(ClusterMap map, Registration me) {
    return map.getServersList().stream()
        .filter(each -> each.getPoolId() == me.entry().getPoolId())
        .map(ServerEntry::getId)
        .findAny();
  }

  private void initialise(Registration me) throws TakoException {
    if (!settings.first) {
      throw new TakoException(
          Status.UNAVAILABLE,
          "the catalog is empty: the first of the servers (%s) initialises it when it starts"
              .formatted(settings.servers));
    }
    if (me.clusterId() != 0) {
      throw new TakoException(
          Status.INVALID_ARGUMENT,
          ("the catalog (%s) is empty, but this server's pool is that of server %d of cluster"
                  + " %016x: correct fs.tako.cluster.servers (and fs.tako.cluster.catalog.dir, if it"
                  + " is set); if the catalog is lost, make it again from a copy by `tako cluster"
                  + " restore-catalog`")
              .formatted(catalog.description(), me.serverId(), me.clusterId()));
    }
    catalog.init(ClusterMaps.init(me.entry().getPoolId(), settings.name));
    Facts.of("cluster", settings.name).info(LOG, "the catalog was empty and is initialised");
  }

  private void checkClock() throws TakoException {
    long before = clock.currentTimeMillis();
    long theirs = catalog.currentTimeMillis();
    long after = clock.currentTimeMillis();
    long skew = Math.max(before - theirs, theirs - after);
    if (skew > settings.skewMax.toMillis()) {
      throw new TakoException(
          Status.INVALID_ARGUMENT,
          ("this server's clock says %s, the catalog's %s: set it right (they may differ by"
                  + " fs.tako.cluster.clock.skew.max, %d s)")
              .formatted(
                  Instant.ofEpochMilli(after),
                  Instant.ofEpochMilli(theirs),
                  settings.skewMax.toSeconds()));
    }
  }

  private void keep() throws TakoException {
    long now = clock.nanoTime();
    if (now - renewedNs >= settings.ttl.toNanos() / 3) {
      if (!catalog.renew(session.key, session.version)) {
        rejoin(); // this server was silent for too long, or another process took its session
        return;
      }
      renewedNs = now;
    }
    for (String what : List.copyOf(requested.keySet())) {
      catalog.change(requested.remove(what));
    }
    CatalogClient.News news = catalog.news();
    if (news.map() == null || !isIn(news.map())) {
      rejoin();
      return;
    }
    registerNews(now);
    take(new State(decommissioned(news.map()), state.serverId, news.keys()));
    keepCopy(news);
  }

  private void rejoin() throws TakoException {
    session = Session.NONE;
    join();
  }

  private ClusterMap decommissioned(ClusterMap map) throws TakoException {
    ClusterMap now = map;
    for (int id : List.copyOf(emptied)) {
      if (ClusterMaps.isMember(now, id)) {
        continue; // it keeps the namespace until another one does
      }
      if (isDecommissioning(now, id)) {
        now =
            catalog.change(
                m ->
                    isDecommissioning(m, id)
                        ? ClusterMaps.mark(m, id, ServerEntry.State.DECOMMISSIONED)
                        : m);
        Facts.of("server", id).info(LOG, "a server keeps nothing any more: it is decommissioned");
      }
      emptied.remove(id);
    }
    return now;
  }

  private static boolean isDecommissioning(ClusterMap map, int id) {
    return map.getServersList().stream()
        .anyMatch(
            each -> each.getId() == id && each.getState() == ServerEntry.State.DECOMMISSIONING);
  }

  private boolean isIn(ClusterMap map) {
    return map.getServersList().stream()
        .anyMatch(
            each -> each.getId() == state.serverId && each.getState() != ServerEntry.State.LOST);
  }

  private void take(State next) {
    boolean changed = !next.map.equals(state.map);
    state = next;
    if (changed) {
      listeners.forEach(listener -> listener.accept(next.map));
    }
  }

  /** Logs the problem when it changes, and once a minute. */
  private void complain(TakoException e) {
    long now = clock.nanoTime();
    if (!e.getMessage().equals(complaint) || now - complainedNs > COMPLAINT_NS) {
      complaint = e.getMessage();
      complainedNs = now;
      LOG.warn(
          "{}: {}; it goes on trying",
          state.serverId == 0
              ? "this server has not joined the cluster"
              : "the catalog cannot be used",
          e.getMessage());
    }
  }

  /** Gives up the session, so that another process may have the pool at once. */
  @Override
  public synchronized void close() {
    if (session.isNone()) {
      return;
    }
    try {
      catalog.close(session.key, session.version);
    } catch (TakoException e) {
      LOG.info("the session is left to expire: {}", e.getMessage());
    }
    session = Session.NONE;
  }

  /** A map as the catalog keeps it. */
  static ClusterMap decode(byte[] bytes) throws TakoException {
    try {
      return ClusterMap.parseFrom(bytes);
    } catch (InvalidProtocolBufferException e) {
      throw new TakoException(Status.CORRUPT, "the catalog's map cannot be read: " + e, e);
    }
  }
}
