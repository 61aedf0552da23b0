package io.takofs.sim.log;

import io.takofs.server.log.GroupConfig;
import io.takofs.server.member.MemberCatalog;
import io.takofs.sim.SimProcess;
import io.takofs.sim.SimScheduler;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.BooleanSupplier;
import java.util.function.IntPredicate;

/** The catalog of a group, of which each member knows what it read last, maybe long ago. */
final class SimCatalog {
  /** For how long a member may go on with what it has read. */
  private static final long[] OLD_MAX_NS = {0, 10_000_000, 300_000_000, 5_000_000_000L};

  /** Until the catalog has changed at most. */
  private static final long CHANGE_MAX_NS = 20_000_000;

  private final SimScheduler scheduler;
  private final Set<BrokenRule> broken;
  private final long oldMaxNs;
  private final Map<Integer, GroupConfig> copies = new HashMap<>(); // what each member read last
  private boolean calm;
  private int reader; // the only one that reads any more; 0 for all
  private GroupConfig newest;
  private int changes;

  SimCatalog(SimScheduler scheduler, Set<Integer> members, Set<BrokenRule> broken) {
    this.scheduler = scheduler;
    this.broken = broken;
    this.newest = new GroupConfig(1, members, Set.of(), true);
    this.oldMaxNs = OLD_MAX_NS[scheduler.random().nextInt(OLD_MAX_NS.length)];
  }

  /** Whoever reads gets the newest content from now on. */
  void calmDown() {
    calm = true;
  }

  /** From now on the catalog is there for {@code one} alone; the others go on with their copies. */
  void goAway(int one) {
    calmDown();
    reader = one;
  }

  /** Whether it is there for {@code member}. */
  boolean isReadBy(int member) {
    return reader == 0 || reader == member;
  }

  GroupConfig newest() {
    return newest;
  }

  /** Changes of the members so far. */
  int changes() {
    return changes;
  }

  /** Replaces one member by another, if the present configuration is active. */
  void replace(int leaves, int comes) {
    if (!newest.active() && !broken.contains(BrokenRule.EARLY_CHANGE)) {
      return;
    }
    Set<Integer> members = new TreeSet<>(newest.members());
    if (members.remove(leaves) && members.add(comes)) {
      newest = new GroupConfig(newest.epoch() + 1, members, newest.members(), false);
      changes++;
    }
  }

  /** A leader asks for other members; {@code born} is its process. */
  private void change(
      int member,
      SimProcess born,
      IntPredicate hasLearned,
      long epoch,
      Set<Integer> members,
      BooleanSupplier stillRight) {
    scheduler.schedule(
        born,
        scheduler.delayNs(0, CHANGE_MAX_NS),
        () -> {
          // The only one who would know of the change does not leave: nobody could lead by it.
          boolean isKnown = reader == 0 || members.contains(reader);
          if (isReadBy(member)
              && isKnown
              && epoch == newest.epoch()
              && newest.active()
              && stillRight.getAsBoolean()) {
            for (int each : members) {
              if (!newest.members().contains(each) && !hasLearned.test(each)) {
                throw new AssertionError("R6: server " + each + " has not learned the log");
              }
            }
            newest = new GroupConfig(epoch + 1, members, newest.members(), false);
            changes++;
          }
        });
  }

  /**
   * The view of one process of {@code member}, which reads the catalog now and then.
   *
   * @param hasLearned whether a server has the log of that process, when it leads
   */
  MemberCatalog view(int member, SimProcess born, IntPredicate hasLearned) {
    copies.putIfAbsent(member, newest);
    return new MemberCatalog() {
      private long oldUntilNs;

      @Override
      public int group() {
        return SimLogMember.GROUP;
      }

      @Override
      public void change(long epoch, Set<Integer> members, BooleanSupplier stillRight) {
        SimCatalog.this.change(member, born, hasLearned, epoch, members, stillRight);
      }

      @Override
      public GroupConfig read() {
        if (calm ? isReadBy(member) : scheduler.nowNs() >= oldUntilNs) {
          copies.put(member, newest);
          oldUntilNs = scheduler.nowNs() + scheduler.delayNs(0, oldMaxNs);
        }
        GroupConfig known = copies.get(member);
        return broken.contains(BrokenRule.NO_OLD_MAJORITY)
            ? new GroupConfig(known.epoch(), known.members(), Set.of(), known.active())
            : known;
      }

      @Override
      public void activate(long epoch) {
        SimCatalog.this.activate(epoch);
      }
    };
  }

  /** Marks configuration {@code epoch}, if it is the newest, as one in which a leader committed. */
  void activate(long epoch) {
    if (epoch == newest.epoch()) {
      newest = new GroupConfig(epoch, newest.members(), newest.previous(), true);
    }
  }
}
