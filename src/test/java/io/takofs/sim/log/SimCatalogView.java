package io.takofs.sim.log;

import io.takofs.proto.ClusterMap;
import io.takofs.proto.ServerEntry;
import io.takofs.server.catalog.CatalogClient.MapChange;
import io.takofs.server.catalog.ClusterMaps;
import io.takofs.server.catalog.MapChanges;
import io.takofs.server.catalog.Registration;
import io.takofs.server.log.GroupConfig;
import io.takofs.server.member.MemberCatalog;
import io.takofs.server.peer.ClusterTopology;
import io.takofs.sim.SimProcess;
import io.takofs.sim.SimScheduler;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.BooleanSupplier;
import java.util.function.IntPredicate;

/**
 * The catalog as one process of a server sees it: the process reads it now and then, and its
 * changes come some time later, unless it has ended or the catalog is away.
 */
final class SimCatalogView implements MemberCatalog, ClusterTopology, MapChanges {
  /** Until the catalog has changed at most. */
  private static final long CHANGE_MAX_NS = 20_000_000;

  private final SimScheduler scheduler;
  private final SimCatalog catalog;
  private final int server;
  private final SimProcess own;
  private final IntPredicate hasLearned;
  private final Set<BrokenRule> broken;
  private final Map<String, MapChange> waiting = new HashMap<>();
  private long oldUntilNs;

  /**
   * @param hasLearned whether a server has the log of this process, when that leads
   */
  SimCatalogView(
      SimScheduler scheduler,
      SimCatalog catalog,
      int server,
      SimProcess own,
      IntPredicate hasLearned,
      Set<BrokenRule> broken) {
    this.scheduler = scheduler;
    this.catalog = catalog;
    this.server = server;
    this.own = own;
    this.hasLearned = hasLearned;
    this.broken = broken;
  }

  /**
   * The process serves, or its session had ended.
   *
   * @param damage that it found when it started; empty for none
   */
  void register(long incarnation, String damage) {
    ServerEntry entry = SimCatalog.entry(server).setEpoch(incarnation).setDamage(damage).build();
    Registration registration = new Registration(0, server, entry);
    request("register", map -> ClusterMaps.register(map, registration, id -> Optional.empty()));
  }

  @Override
  public int group() {
    return SimLogMember.GROUP;
  }

  @Override
  public int serverId() {
    return server;
  }

  private SimCatalog.Copy copy() {
    boolean isOld = scheduler.nowNs() >= oldUntilNs;
    if (isOld) {
      oldUntilNs = scheduler.nowNs() + catalog.oldNs();
    }
    return catalog.copy(server, isOld);
  }

  @Override
  public ClusterMap map() {
    return copy().map();
  }

  @Override
  public GroupConfig read() {
    GroupConfig known = copy().config();
    return broken.contains(BrokenRule.NO_OLD_MAJORITY)
        ? new GroupConfig(known.epoch(), known.members(), Set.of(), known.active())
        : known;
  }

  @Override
  public void activate(long epoch) {
    catalog.activate(epoch);
  }

  @Override
  public void request(String what, MapChange change) {
    if (waiting.put(what, change) == null) {
      scheduler.schedule(
          own,
          scheduler.delayNs(0, CHANGE_MAX_NS),
          () -> {
            MapChange last = waiting.remove(what);
            if (catalog.isReadBy(server)) {
              catalog.change(last);
            }
          });
    }
  }

  @Override
  public void change(long epoch, Set<Integer> members, BooleanSupplier stillRight) {
    scheduler.schedule(
        own,
        scheduler.delayNs(0, CHANGE_MAX_NS),
        () -> {
          // The only one who would know of the change does not leave: nobody could lead by it.
          if (catalog.isReadBy(server) && catalog.mayHave(members) && stillRight.getAsBoolean()) {
            long before = catalog.newest().epoch();
            Set<Integer> former = catalog.newest().members();
            catalog.changeMembers(epoch, members);
            if (catalog.newest().epoch() != before) {
              checkLearned(former, members);
            }
          }
        });
  }

  private void checkLearned(Set<Integer> former, Set<Integer> members) {
    for (int each : members) {
      if (!former.contains(each) && !hasLearned.test(each)) {
        throw new AssertionError("R6: server " + each + " has not learned the log");
      }
    }
  }
}
