package io.takofs.server.slabs;

import io.takofs.base.Clock;
import io.takofs.base.Facts;
import io.takofs.proto.ServerEntry;
import io.takofs.server.peer.DataServers;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Watches which data servers answer the leader of a group.
 *
 * <p>Thread rule: the owner of the group.
 */
public final class ServerWatch {
  private static final Logger LOG = LoggerFactory.getLogger(ServerWatch.class);

  /** Time for which nothing is granted to a client at a server that it reported. */
  private static final long REPORT_NS = TimeUnit.SECONDS.toNanos(30);

  /** Reports that are remembered at most; each is of another client and server. */
  private static final int REPORTS_MAX = 10_000;

  /** The health of a server, as the leader sees it. */
  public enum Health {
    /** It answers. */
    UP,
    /** Its last call failed, a client reported it, or it was never heard of. */
    SUSPECT,
    /** It has been silent for too long, or its pool is gone. */
    DEAD
  }

  private static final class Watched {
    ServerEntry entry;
    long heardNs; // the last answer, or when it was first seen in the map
    boolean everHeard;
    boolean hasFailed;
    boolean suspect = true;
    boolean dead;
    boolean removed; // from the map
    long deadSinceNs;
  }

  private record Report(long clientId, int server) {}

  private final Clock clock;
  private final DataServers servers;
  private final RepairSettings settings;
  private final long startedNs;
  private final Map<Integer, Watched> watched = new TreeMap<>();
  private final Map<Report, Long> reports = new HashMap<>();
  private boolean allHeard;
  private boolean ticked;
  private boolean hasFollowed; // before it looked first, which is when it began to lead

  /** Silent servers that are not waited for, until they answer. */
  private final Set<Integer> withoutThem = new TreeSet<>();

  public ServerWatch(Clock clock, DataServers servers, RepairSettings settings) {
    this.clock = clock;
    this.servers = servers;
    this.settings = settings;
    this.startedNs = clock.nanoTime();
  }

  /** Another server leads, and this one has applied what that committed: the cluster runs. */
  public void followed() {
    hasFollowed = true;
  }

  /** Looks at the map, and at the time. */
  void tick() {
    long now = clock.nanoTime();
    if (!ticked) {
      ticked = true;
      hasFollowed |= now - startedNs >= settings.deadInterval().toNanos();
    }
    List<ServerEntry> entries = servers.servers();
    boolean all = true;
    for (ServerEntry entry : entries) {
      Watched server = watched(entry, now);
      all &= server.everHeard || isGone(entry);
    }
    allHeard |= all;
    Set<Integer> there = new TreeSet<>();
    entries.forEach(entry -> there.add(entry.getId()));
    for (Watched server : watched.values()) {
      server.removed = !there.contains(server.entry.getId());
      if (server.removed) {
        server.entry = server.entry.toBuilder().setState(ServerEntry.State.LOST).build();
        server.dead = true;
      }
    }
    boolean mayBeDead = allHeard || now - startedNs >= settings.startDelay().toNanos();
    for (ServerEntry entry : entries) {
      Watched server = watched.get(entry.getId());
      boolean silent = now - server.heardNs >= settings.deadInterval().toNanos();
      boolean dead = isGone(entry) || (silent && mayBeDead && server.suspect);
      if (dead && !server.dead) {
        server.deadSinceNs = now;
        Facts.of("server", entry.getId())
            .and("state", entry.getState())
            .warn(LOG, "a server counts as dead: its slabs are repaired");
      }
      server.dead = dead;
    }
    reports.values().removeIf(until -> now - until >= 0);
  }

  private static boolean isGone(ServerEntry entry) {
    return entry.getState() == ServerEntry.State.LOST;
  }

  /**
   * Whether the map calls {@code id} LOST, or does not have it. One that is LOST may come back with
   * its memory, and with clients that write there: somebody may have taken it for lost while it
   * stood still or could not be reached.
   */
  boolean isGone(int id) {
    Watched server = watched.get(id);
    return server == null || isGone(server.entry);
  }

  /** Whether {@code id} can not come back: the map does not have it, and takes it no more. */
  boolean isRemoved(int id) {
    Watched server = watched.get(id);
    return server == null || server.removed;
  }

  private Watched watched(ServerEntry entry, long now) {
    Watched server =
        watched.computeIfAbsent(
            entry.getId(),
            id -> {
              Watched added = new Watched();
              added.heardNs = now;
              return added;
            });
    if (server.entry != null && server.entry.getEpoch() != entry.getEpoch()) {
      // It was started again: what did not answer clients is gone.
      reports.keySet().removeIf(report -> report.server == entry.getId());
    }
    server.entry = entry;
    return server;
  }

  /** A server answered a call. */
  void answered(int id) {
    Watched server = watched.get(id);
    if (server != null) {
      server.heardNs = clock.nanoTime();
      server.everHeard = true;
      server.suspect = false;
      server.dead &= isGone(server.entry);
      withoutThem.remove(id);
    }
  }

  /** A call to a server could not be answered. */
  void failed(int id) {
    Watched server = watched.get(id);
    if (server != null) {
      server.hasFailed = true;
      server.suspect = true;
    }
  }

  /** A client says that a server does not answer it. */
  void reported(long clientId, int id) {
    failed(id);
    if (watched.containsKey(id) && reports.size() < REPORTS_MAX) {
      reports.put(new Report(clientId, id), clock.nanoTime() + REPORT_NS);
    }
  }

  /**
   * Whether there are clients to which nothing is granted at a server, because they reported it.
   */
  boolean isReported(int id) {
    return reports.keySet().stream().anyMatch(report -> report.server == id);
  }

  /** The health of {@code id}; DEAD of a server that the map does not have. */
  public Health health(int id) {
    Watched server = watched.get(id);
    if (server == null || server.dead) {
      return Health.DEAD;
    }
    return server.suspect ? Health.SUSPECT : Health.UP;
  }

  /**
   * Whether a server may still answer for the first time: a leader that has just started does not
   * do without the others yet. One that followed for a while before does without those that fail:
   * the leader before it, say, whose death clients would wait for otherwise.
   */
  boolean isAwaited(int id) {
    Watched server = watched.get(id);
    return server != null
        && !server.everHeard
        && !(server.hasFailed && hasFollowed)
        && server.entry.getState() == ServerEntry.State.UP
        && clock.nanoTime() - server.heardNs < settings.deadInterval().toNanos();
  }

  /** The time for which a server has counted as dead, ns; 0 when it does not. */
  long deadForNs(int id) {
    Watched server = watched.get(id);
    if (server == null) {
      return clock.nanoTime() - startedNs;
    }
    return server.dead ? clock.nanoTime() - server.deadSinceNs : 0;
  }

  /** The entry of {@code id} in the map; null when it was never there. */
  ServerEntry entry(int id) {
    Watched server = watched.get(id);
    return server == null ? null : server.entry;
  }

  /** Whether slabs may come to a server. */
  boolean isUsable(int id) {
    return health(id) == Health.UP && entry(id).getState() == ServerEntry.State.UP;
  }

  /**
   * Whether so many servers are silent that the fault is more likely this server's or the
   * network's: more than a third of those that should be there, and at least two. Those that {@link
   * #goOn} left out are neither.
   */
  public boolean isAlone() {
    int silent = 0;
    int all = 0;
    for (Watched server : watched.values()) {
      if (isWanted(server) && !withoutThem.contains(server.entry.getId())) {
        all++;
        silent += server.suspect ? 1 : 0;
      }
    }
    return silent >= 2 && 3 * silent > all;
  }

  private static boolean isWanted(Watched server) {
    return !isGone(server.entry) && server.entry.getState() != ServerEntry.State.DECOMMISSIONED;
  }

  /** While {@link #isAlone}: the silent servers, of which one is dead at least; else none. */
  List<Integer> waitsFor() {
    List<Watched> silent =
        watched.values().stream()
            .filter(
                each -> isWanted(each) && each.suspect && !withoutThem.contains(each.entry.getId()))
            .toList();
    boolean waits = isAlone() && silent.stream().anyMatch(each -> each.dead);
    return waits ? silent.stream().map(each -> each.entry.getId()).toList() : List.of();
  }

  /**
   * If this is {@link #isAlone}, those that are silent are not waited for until they answer.
   *
   * @return whether it is
   */
  boolean goOn() {
    if (!isAlone()) {
      return false;
    }
    watched.forEach(
        (id, server) -> {
          if (isWanted(server) && server.suspect) {
            withoutThem.add(id);
          }
        });
    return true;
  }

  /** The servers that {@link #goOn} left out and that have not answered since. */
  List<Integer> goesWithout() {
    return withoutThem.stream().filter(id -> isWanted(watched.get(id))).toList();
  }

  /**
   * Servers where nothing is to be granted to a client: those that are {@link #forbidden}, and, as
   * long as there are others, those that do not answer the leader.
   *
   * @param holding servers with replicas of the group's slabs
   */
  public Set<Integer> avoided(long clientId, Set<Integer> holding) {
    Set<Integer> forbidden = forbidden(clientId, holding);
    Set<Integer> avoided = new TreeSet<>(forbidden);
    for (int id : watched.keySet()) {
      if (health(id) != Health.UP) {
        avoided.add(id);
      }
    }
    return avoided.containsAll(watched.keySet()) ? forbidden : avoided;
  }

  /**
   * Servers where nothing is granted to a client, whatever others there are: those that are DEAD,
   * not UP in the map, or not in it, and those that did not answer the client lately.
   *
   * @param holding servers with replicas of the group's slabs
   */
  public Set<Integer> forbidden(long clientId, Set<Integer> holding) {
    Set<Integer> forbidden = new TreeSet<>();
    watched.forEach(
        (id, server) -> {
          if (server.dead
              || server.entry.getState() != ServerEntry.State.UP
              || reports.containsKey(new Report(clientId, id))) {
            forbidden.add(id);
          }
        });
    for (int id : holding) {
      if (!watched.containsKey(id)) {
        forbidden.add(id);
      }
    }
    return forbidden;
  }
}
