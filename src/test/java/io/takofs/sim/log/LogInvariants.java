package io.takofs.sim.log;

import io.takofs.server.log.GroupConfig;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

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
 *   <tr><td>I9</td><td>no promise is taken back, and no term of the log, also over a restart;
 *   a damaged member alone begins anew: here</td></tr>
 *   <tr><td>I10</td><td>commits that frames name: the scan, which says CORRUPT</td></tr>
 *   <tr><td>I11</td><td>a damaged member does not lead: here</td></tr>
 *   <tr><td>I12</td><td>reads: {@link SimLogMember}, with each answer</td></tr>
 *   <tr><td>I21</td><td>no value is committed twice: {@link LogHistory#deliver}</td></tr>
 *   <tr><td>I29</td><td>what a member's log has given up is in its durable checkpoint: here</td></tr>
 *   <tr><td>I31</td><td>epochs only grow, by one, and only from active ones: here</td></tr>
 *   <tr><td>I32</td><td>somebody leads once nothing strikes: the end of {@link
 *   GroupLogSimulation}</td></tr>
 * </table>
 *
 * <p>What is as it was after the step before needs no second look: each of these says how a state
 * may follow another one, or holds of a state at all times.
 */
final class LogInvariants {
  private final List<? extends CheckedMember> members;
  private final Supplier<GroupConfig> newest;
  private final LogHistory history;
  private final boolean broken; // a rule, which has to show in what is delivered or read
  private final Map<Long, Integer> leaders = new HashMap<>(); // by term
  private final Past[] pasts; // by place in the list of members
  private final long[] terms; // in which each was seen to lead last
  private GroupConfig lastConfig;

  /** Of a damaged member, which promises nothing: what it had promised before. */
  private record Past(long promised, long accepted, long epoch, boolean sound, int renewals) {
    static Past of(CheckedMember member) {
      return new Past(
          member.promisedTerm(),
          member.acceptedTerm(),
          member.configEpoch(),
          member.isSound(),
          member.renewals());
    }

    Past damaged() {
      return new Past(promised, accepted, epoch, false, renewals);
    }

    boolean isStill(CheckedMember member) {
      return !sound
          ? !member.isSound()
          : promised == member.promisedTerm()
              && accepted == member.acceptedTerm()
              && epoch == member.configEpoch()
              && member.isSound();
    }
  }

  /**
   * @param members all that there are at any time
   * @param newest the newest configuration
   * @param broken whether a rule is broken: only what users see is looked at then
   */
  LogInvariants(
      List<? extends CheckedMember> members,
      Supplier<GroupConfig> newest,
      LogHistory history,
      boolean broken) {
    this.members = members;
    this.newest = newest;
    this.history = history;
    this.broken = broken;
    this.pasts = new Past[members.size()];
    this.terms = new long[members.size()];
    this.lastConfig = newest.get();
  }

  /** Terms in which somebody led. */
  int terms() {
    return leaders.size();
  }

  /** Looks at all that has a state. */
  void check() {
    for (int i = 0; i < pasts.length; i++) {
      CheckedMember each = members.get(i);
      if (each.isAlive()) {
        checkLeader(i, each);
        checkPromise(i, each);
        checkTrimmed(each);
      }
    }
    if (!broken) {
      checkConfig();
    }
  }

  private void checkLeader(int place, CheckedMember member) {
    long term = member.leadingTerm();
    if (term == 0 || term == terms[place]) {
      return;
    }
    terms[place] = term;
    Integer known = leaders.putIfAbsent(term, member.id());
    if (known != null && known != member.id()) {
      throw violation("I4", "two lead in term " + term);
    }
    if (known == null && !broken) {
      if (member.lastIndex() < history.acknowledgedBefore(term)) {
        throw violation(
            "I2", "member " + member.id() + " begins to lead without what was acknowledged");
      }
      Past past = pasts[place]; // it may find damage in the step in which it begins
      if (past != null && !past.sound) {
        throw violation("I11", "a damaged member begins to lead");
      }
    }
  }

  private void checkPromise(int place, CheckedMember member) {
    Past past = pasts[place];
    if (past != null && past.isStill(member)) {
      return;
    }
    Past now = Past.of(member);
    pasts[place] = now.sound || past == null ? now : past.damaged();
    if (past != null
        && now.sound
        && now.renewals == past.renewals
        && !broken
        && (now.promised < past.promised
            || now.accepted < past.accepted
            || now.epoch < past.epoch)) {
      throw violation("I9", "member " + member.id() + " takes back " + past + ": " + now);
    }
    if (now.accepted > now.promised) {
      throw violation("I4", "a log of a term that was not promised: " + now);
    }
  }

  private void checkTrimmed(CheckedMember member) {
    if (!broken && member.hasCheckpoint() && member.trimmedIndex() > member.checkpointIndex()) {
      throw violation(
          "I29",
          "member %d has given up entries up to %d, and its checkpoint has those up to %d"
              .formatted(member.id(), member.trimmedIndex(), member.checkpointIndex()));
    }
  }

  private void checkConfig() {
    GroupConfig config = newest.get();
    if (config.equals(lastConfig)) {
      return;
    }
    boolean same = config.epoch() == lastConfig.epoch();
    if (!same && (config.epoch() != lastConfig.epoch() + 1 || !lastConfig.active())) {
      throw violation("I31", config + " after " + lastConfig);
    }
    lastConfig = config;
  }

  /** Made only where one is found: to put the words together takes longer than to look. */
  private static AssertionError violation(String name, String what) {
    return new AssertionError(name + ": " + what);
  }
}
