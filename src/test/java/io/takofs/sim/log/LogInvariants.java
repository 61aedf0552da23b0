package io.takofs.sim.log;

import io.takofs.server.log.GroupConfig;
import io.takofs.server.log.LogMember;
import io.takofs.server.log.LogReplica;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * What must hold after every step, by the names that the protocol gives it.
 *
 * <table>
 *   <caption>Where each is looked at</caption>
 *   <tr><td>I1</td><td>agreement: {@link LogHistory#deliver}, with each delivery</td></tr>
 *   <tr><td>I2</td><td>a leader has all that was acknowledged in earlier terms: here</td></tr>
 *   <tr><td>I3</td><td>no garbage: {@link SimLogMember}, with each delivery</td></tr>
 *   <tr><td>I4</td><td>one writer: one leader a term, and a grant is of the promised term: here
 *   </td></tr>
 *   <tr><td>I5, I6, I8</td><td>have no state to look at: the broken rules SCAN_BEFORE_REVOKE,
 *   FAILED_COUNTS, STALE_GRANT show that a violation becomes one of I1 or I2</td></tr>
 *   <tr><td>I7</td><td>segments are closed once: the open of a replica, which checks lengths
 *   </td></tr>
 *   <tr><td>I9</td><td>no promise is taken back, and no term of the log, also over a restart: here
 *   </td></tr>
 *   <tr><td>I10</td><td>commits that frames name: the scan, which says CORRUPT</td></tr>
 *   <tr><td>I11</td><td>a damaged member does not lead: here</td></tr>
 *   <tr><td>I12</td><td>reads: {@link SimLogMember}, with each answer</td></tr>
 *   <tr><td>I21</td><td>no value is committed twice: {@link LogHistory#deliver}</td></tr>
 *   <tr><td>I29</td><td>is of segments on flash, which the log does not have</td></tr>
 *   <tr><td>I31</td><td>epochs only grow, by one, and only from active ones: here</td></tr>
 *   <tr><td>I32</td><td>somebody leads once nothing strikes: the end of {@link
 *   GroupLogSimulation}</td></tr>
 * </table>
 */
final class LogInvariants {
  private final List<SimLogMember> members;
  private final SimCatalog catalog;
  private final LogHistory history;
  private final boolean broken; // a rule, which has to show in what is delivered or read
  private final Map<Long, Integer> leaders = new HashMap<>(); // by term
  private final Map<Integer, Past> pasts = new HashMap<>(); // by member
  private GroupConfig lastConfig;

  private record Past(long promised, long accepted, long epoch, boolean sound) {}

  /**
   * @param broken whether a rule is broken: only what users see is looked at then
   */
  LogInvariants(
      List<SimLogMember> members, SimCatalog catalog, LogHistory history, boolean broken) {
    this.members = members;
    this.catalog = catalog;
    this.history = history;
    this.broken = broken;
    this.lastConfig = catalog.newest();
  }

  /** Terms in which somebody led. */
  int terms() {
    return leaders.size();
  }

  /** Looks at all that has a state. */
  void check() {
    for (SimLogMember each : members) {
      if (each.isAlive()) {
        checkLeader(each);
        checkPromise(each);
      }
    }
    if (!broken) {
      checkConfig();
    }
  }

  private void checkLeader(SimLogMember member) {
    if (member.member().role() != LogMember.Role.LEADING) {
      return;
    }
    long term = member.member().term();
    Integer known = leaders.putIfAbsent(term, member.id());
    require(known == null || known == member.id(), "I4", "two lead in term " + term);
    if (known == null && !broken) {
      require(
          member.replica().lastIndex() >= history.acknowledgedBefore(term),
          "I2",
          "member " + member.id() + " begins to lead without what was acknowledged");
      Past past = pasts.get(member.id()); // it may find damage in the step in which it begins
      require(past == null || past.sound, "I11", "a damaged member begins to lead");
    }
  }

  private void checkPromise(SimLogMember member) {
    LogReplica replica = member.replica();
    Past now =
        new Past(
            replica.promisedTerm(),
            replica.acceptedTerm(),
            replica.epoch(),
            replica.damage() == null);
    Past past = pasts.put(member.id(), now);
    require(
        past == null
            || broken
            || (now.promised >= past.promised
                && now.accepted >= past.accepted
                && now.epoch >= past.epoch),
        "I9",
        "member " + member.id() + " takes back " + past + ": " + now);
    require(now.accepted <= now.promised, "I4", "a log of a term that was not promised: " + now);
  }

  private void checkConfig() {
    GroupConfig config = catalog.newest();
    if (!config.equals(lastConfig)) {
      boolean same = config.epoch() == lastConfig.epoch();
      require(
          same || (config.epoch() == lastConfig.epoch() + 1 && lastConfig.active()),
          "I31",
          config + " after " + lastConfig);
      lastConfig = config;
    }
  }

  private static void require(boolean holds, String name, String what) {
    if (!holds) {
      throw new AssertionError(name + ": " + what);
    }
  }
}
