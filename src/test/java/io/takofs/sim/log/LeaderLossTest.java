package io.takofs.sim.log;

import static org.assertj.core.api.Assertions.assertThat;

import io.takofs.sim.SimConditions;
import io.takofs.sim.SimNetwork;
import io.takofs.sim.SimScheduler;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Another member leads when the process of the leader ends, or its log is damaged. */
class LeaderLossTest {
  private static final long LIMIT_NS = TimeUnit.SECONDS.toNanos(10);
  private static final long STEADY_NS = TimeUnit.SECONDS.toNanos(1);
  private static final long VALUE = 0x1234_5678_9ABC_DEF0L;

  private static final long LAST = VALUE + 2;

  /** More than each member has slots. */
  private static final int TERMS = 60;

  /** Values that fill the sends that may be under way to a member. */
  private static final int EARLY = 8;

  private static final long SLOW_NS = TimeUnit.MILLISECONDS.toNanos(12);

  private SimScheduler scheduler;
  private SimNetwork network;
  private List<SimLogMember> members;

  @ParameterizedTest
  @ValueSource(longs = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9})
  void shouldMissALeaderWhoseConnectionEnds(long seed) throws Exception {
    start(seed);
    for (int death = 0; death < 3; death++) {
      SimLogMember leader = awaitLeader();
      scheduler.pass(STEADY_NS);
      assertThat(leader()).as("nobody disturbs a leader").isSameAs(leader);
      leader.kill();
      long diedNs = scheduler.nowNs();
      awaitLeader();
      assertThat(scheduler.nowNs() - diedNs).isLessThan(SimLogMember.MISSED_NS / 2);
      assertThat(leader.start()).isTrue();
      scheduler.pass(STEADY_NS);
    }
  }

  /** Each term begins a segment, and nothing but that makes segments short. */
  @ParameterizedTest
  @ValueSource(longs = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9})
  void shouldFollowOverMoreTermsThanThereAreSlots(long seed) throws Exception {
    start(seed);
    members.forEach(SimLogMember::checkpointWhenShort);
    for (int term = 1; term <= TERMS; term++) {
      SimLogMember next = members.get(term % members.size());
      long value = VALUE + term;
      scheduler.schedule(next.process(), 0, () -> next.member().stand());
      scheduler.await(LIMIT_NS, () -> leader() == next && next.propose(value));
      assertThat(leader()).isSameAs(next);
      long last = next.log().lastIndex();
      scheduler.await(LIMIT_NS, () -> haveAll(last));
      assertThat(haveAll(last)).as("all have what was committed in term " + term).isTrue();
    }
  }

  /**
   * The member that is left needs a newer checkpoint than the leader has, which has executed what
   * it cannot commit before that.
   */
  @ParameterizedTest
  @ValueSource(longs = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9})
  void shouldGoOnWithAMemberThatTakesItsStateOver(long seed) throws Exception {
    SimLogMember leader = startSteady(seed);
    members.forEach(SimLogMember::checkpointWhenShort);
    List<SimLogMember> others = followersOf(leader);
    SimLogMember left = others.get(0);
    fillTwoSegments(leader, left);
    left.checkpoint();
    fillTwoSegments(leader, left); // it has a whole one of what follows that checkpoint
    assertThat(left.trimmedIndex()).isGreaterThan(leader.checkpointIndex());
    others.get(1).kill();
    network.links().cutOff(left.process());
    assertThat(leader.propose(VALUE)).isTrue();
    left.loseState();
    network.links().heal();
    assertThat(left.start()).isTrue();

    scheduler.await(LIMIT_NS, () -> leader() != null && leader().propose(LAST));
    scheduler.await(LIMIT_NS, () -> left.delivered().containsValue(LAST));

    assertThat(left.delivered()).containsValues(VALUE, LAST);
    assertThat(left.takeovers()).isEqualTo(1);
    assertThat(awaitLeader().propose(LAST + 1)).isTrue();
    scheduler.await(LIMIT_NS, () -> left.delivered().containsValue(LAST + 1));
    assertThat(left.delivered()).containsValue(LAST + 1);
  }

  private void fillTwoSegments(SimLogMember leader, SimLogMember follower) {
    long value = leader.lastIndex();
    while (follower.log().segmentCount() < 2) {
      assertThat(leader.propose(++value)).isTrue();
      scheduler.pass(SLOW_NS);
    }
  }

  private boolean haveAll(long index) {
    return members.stream().allMatch(each -> each.delivered().containsKey(index));
  }

  /** A majority has the frame, so that nobody waits for the leader but the one who lacks it. */
  @ParameterizedTest
  @ValueSource(longs = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9})
  void shouldReplaceALeaderWhoseFramesSomebodyCannotAdopt(long seed) throws Exception {
    start(seed);
    SimLogMember leader = awaitLeader();
    SimLogMember behind = followersOf(leader).get(0);
    network.links().cutOff(behind.process());
    assertThat(leader.propose(VALUE)).isTrue();
    scheduler.pass(STEADY_NS);
    assertThat(leader()).isSameAs(leader);
    assertThat(leader.delivered()).containsValue(VALUE);
    assertThat(leader.flipBitOf(VALUE)).isTrue();

    network.links().heal();
    scheduler.await(LIMIT_NS, () -> behind.delivered().containsValue(VALUE));
    assertThat(behind.delivered()).containsValue(VALUE);
    assertThat(leader.isSound()).isFalse();
    assertThat(awaitLeader()).isNotSameAs(leader);
  }

  /**
   * The frame is whole at a majority when the bits change, and goes out to a member that is late:
   * nothing that comes after it may count there.
   */
  @ParameterizedTest
  @ValueSource(longs = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9})
  void shouldCountNothingAfterAFrameThatWentOutWithWrongBits(long seed) throws Exception {
    SimLogMember leader = startSteady(seed);
    List<SimLogMember> others = followersOf(leader);
    network.links().slow(others.get(0).process(), SLOW_NS);
    for (long early = 1; early <= EARLY; early++) {
      assertThat(leader.propose(early)).isTrue();
      scheduler.pass(SLOW_NS / (2 * EARLY)); // each is a write of its own, and none is complete
    }
    assertThat(leader.propose(VALUE)).isTrue();
    scheduler.await(LIMIT_NS, () -> others.get(1).delivered().containsValue(VALUE));
    assertThat(others.get(0).lastIndex()).isLessThan(leader.lastIndex());
    assertThat(leader.flipBitOf(VALUE)).isTrue();

    network.links().cutOff(others.get(1).process());
    assertThat(leader.propose(LAST)).isTrue();
    scheduler.await(LIMIT_NS, () -> !leader.isSound());
    assertThat(leader.isSound()).isFalse();
    assertThat(leader.delivered()).doesNotContainValue(LAST);
    network.links().heal();
    assertThat(awaitLeader()).isNotSameAs(leader);
    scheduler.await(LIMIT_NS, () -> others.get(0).delivered().containsValue(VALUE));
    assertThat(others.get(0).delivered()).containsValue(VALUE);
  }

  /** The leader counts what a member has not looked at yet when its bits change. */
  @ParameterizedTest
  @ValueSource(longs = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9})
  void shouldWriteAgainWhatAMemberHasLost(long seed) throws Exception {
    SimLogMember leader = startSteady(seed);
    SimLogMember damaged = followersOf(leader).get(0);
    long known = damaged.lastIndex();
    assertThat(leader.propose(VALUE)).isTrue();
    scheduler.await(LIMIT_NS, () -> damaged.flipBitOf(VALUE));
    assertThat(damaged.lastIndex()).as("it has not looked yet").isEqualTo(known);
    scheduler.await(LIMIT_NS, () -> leader.delivered().containsValue(VALUE));

    assertThat(leader.propose(LAST)).isTrue();
    scheduler.await(LIMIT_NS, () -> damaged.delivered().containsValue(LAST));
    assertThat(damaged.delivered()).containsValues(VALUE, LAST);
    assertThat(leader()).isSameAs(leader);
  }

  /** As above, but the last frame is damaged: only heartbeats say that the leader counts it. */
  @ParameterizedTest
  @ValueSource(longs = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9})
  void shouldNotLeadWithoutWhatALeaderCounted(long seed) throws Exception {
    SimLogMember leader = startSteady(seed);
    SimLogMember damaged = loseUnseen(leader);
    network.links().heal();
    damaged.process().resume(scheduler);
    assertNobodyLeadsUntilBack(leader, VALUE);
  }

  /** As above, but the member has looked, and its process ends before anybody asks it. */
  @ParameterizedTest
  @ValueSource(longs = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9})
  void shouldKeepWhatALeaderCounted(long seed) throws Exception {
    SimLogMember leader = startSteady(seed);
    SimLogMember damaged = loseUnseen(leader);
    lookAndStartAgain(damaged);
    network.links().heal();
    assertNobodyLeadsUntilBack(leader, VALUE);
  }

  /** Five members: nobody has told the damaged one that it is committed, by a third one's copy. */
  @ParameterizedTest
  @ValueSource(longs = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9})
  void shouldKeepWhatALeaderCountedAndMayHaveCommitted(long seed) throws Exception {
    SimLogMember leader = startSteady(seed, 5);
    List<SimLogMember> others = followersOf(leader);
    SimLogMember damaged = others.get(0);
    SimLogMember third = others.get(1);
    network.links().cutOff(others.get(2).process());
    network.links().cutOff(others.get(3).process());
    network.links().slow(third.process(), 2 * SLOW_NS);
    damaged.process().pause();
    assertThat(leader.propose(VALUE)).isTrue();
    scheduler.pass(2 * SLOW_NS); // a heartbeat comes that counts it
    assertThat(leader.delivered()).doesNotContainValue(VALUE);
    network.links().slow(damaged.process(), LIMIT_NS);
    scheduler.await(LIMIT_NS, () -> leader.delivered().containsValue(VALUE));
    assertThat(leader.delivered()).containsValue(VALUE);
    assertThat(damaged.flipBitOf(VALUE)).isTrue();
    leader.kill();
    third.kill();
    lookAndStartAgain(damaged);
    network.links().heal();
    assertNobodyLeadsUntilBack(leader, VALUE);
  }

  /** The leader brings a member in whose bits change before it has the log. */
  @ParameterizedTest
  @ValueSource(longs = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9})
  void shouldWriteAgainWhatAMemberCannotAdopt(long seed) throws Exception {
    start(seed);
    SimLogMember leader = awaitLeader();
    SimLogMember behind = followersOf(leader).get(0);
    network.links().cutOff(behind.process());
    assertThat(leader.propose(VALUE)).isTrue();
    scheduler.pass(STEADY_NS);
    assertThat(leader.delivered()).containsValue(VALUE);
    network.links().heal();
    scheduler.await(LIMIT_NS, () -> behind.flipBitOf(VALUE));
    scheduler.await(LIMIT_NS, () -> behind.delivered().containsValue(VALUE));
    assertThat(behind.delivered()).containsValue(VALUE);
    assertThat(leader()).isSameAs(leader);
  }

  /** Two members are there: one was cut off, and the other's bits changed before it looked. */
  @ParameterizedTest
  @ValueSource(longs = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9})
  void shouldNotLeadWithoutWhatADamagedMemberNames(long seed) throws Exception {
    SimLogMember leader = startSteady(seed);
    List<SimLogMember> others = followersOf(leader);
    SimLogMember damaged = others.get(0);
    network.links().cutOff(others.get(1).process());
    assertThat(leader.propose(VALUE)).isTrue();
    scheduler.await(LIMIT_NS, () -> leader.delivered().containsValue(VALUE));
    scheduler.await(LIMIT_NS, () -> damaged.lastIndex() == leader.lastIndex());
    damaged.process().pause();
    long shown = damaged.lastIndex();
    for (long next = LAST; next <= LAST + 2; next++) {
      long value = next;
      assertThat(leader.propose(value)).isTrue();
      scheduler.await(LIMIT_NS, () -> leader.delivered().containsValue(value));
    }
    assertThat(damaged.lastIndex()).isEqualTo(shown);
    assertThat(damaged.flipBitOf(LAST)).isTrue();
    leader.kill();
    damaged.kill(); // what it knows by heartbeats is gone
    network.links().heal();
    assertThat(damaged.start()).isTrue();
    assertNobodyLeadsUntilBack(leader, VALUE, LAST, LAST + 1, LAST + 2);
  }

  /** Each of the two promises itself the same term, so that neither gets a majority at first. */
  @ParameterizedTest
  @ValueSource(longs = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9})
  void shouldSoonHaveALeaderWhenTwoStandAtOnce(long seed) throws Exception {
    SimLogMember leader = startSteady(seed);
    leader.kill();
    long diedNs = scheduler.nowNs();
    members.stream().filter(SimLogMember::isAlive).forEach(each -> each.member().stand());
    assertThat(members.stream().filter(SimLogMember::isAlive).map(each -> each.member().term()))
        .as("both stand in one term")
        .doesNotContain(0L)
        .satisfies(terms -> assertThat(Set.copyOf(terms)).hasSize(1));
    awaitLeader();
    assertThat(scheduler.nowNs() - diedNs).isLessThan(SimLogMember.MISSED_NS);
  }

  /**
   * No frame names its last entry committed, so its state ends before it; the others have given up
   * the segment with that entry, which the log of the former leader has.
   */
  @ParameterizedTest
  @ValueSource(longs = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9})
  void shouldBringAFormerLeaderInWhoseLogTheNextOneContinues(long seed) throws Exception {
    SimLogMember former = startSteady(seed);
    assertThat(former.propose(VALUE)).isTrue();
    scheduler.await(
        LIMIT_NS, () -> members.stream().allMatch(each -> each.delivered().containsValue(VALUE)));
    former.kill();
    SimLogMember next = awaitLeader();
    assertThat(next.propose(LAST)).isTrue();
    scheduler.pass(STEADY_NS); // checkpoints are made

    assertThat(former.start()).isTrue();
    scheduler.await(LIMIT_NS, () -> former.delivered().containsValue(LAST));
    assertThat(former.delivered()).containsValues(VALUE, LAST);
    assertThat(former.takeovers()).as("it lacks nothing").isZero();
    assertThat(leader()).isSameAs(next);
  }

  /**
   * The leader and one other of three commit a value, whose frame breaks there before that one has
   * looked, but not before heartbeats have come that count it; then the leader dies.
   *
   * @return the other one, which is paused
   */
  private SimLogMember loseUnseen(SimLogMember leader) {
    List<SimLogMember> others = followersOf(leader);
    SimLogMember damaged = others.get(0);
    network.links().cutOff(others.get(1).process());
    damaged.process().pause();
    assertThat(leader.propose(VALUE)).isTrue();
    scheduler.await(LIMIT_NS, () -> leader.delivered().containsValue(VALUE));
    scheduler.pass(SimLogMember.MISSED_NS / 2); // some heartbeats
    assertThat(damaged.flipBitOf(VALUE)).isTrue();
    leader.kill();
    return damaged;
  }

  /** The member goes on, looks at what has come, and its process ends and starts again. */
  private void lookAndStartAgain(SimLogMember member) throws Exception {
    member.process().resume(scheduler);
    scheduler.pass(SimLogMember.MISSED_NS / 4);
    member.kill();
    assertThat(member.start()).isTrue();
  }

  /** Nobody but {@code former} has {@code acknowledged}: nobody leads before it is there again. */
  private void assertNobodyLeadsUntilBack(SimLogMember former, Long... acknowledged)
      throws Exception {
    scheduler.pass(STEADY_NS);
    assertThat(leader()).as("nobody has what was acknowledged").isNull();
    assertThat(former.start()).isTrue();
    SimLogMember next = awaitLeader();
    List<Long> all = List.of(acknowledged);
    scheduler.await(LIMIT_NS, () -> next.delivered().values().containsAll(all));
    assertThat(next.delivered()).containsValues(acknowledged);
  }

  /** Starts three members, of which the one that is returned leads for a while already. */
  private SimLogMember startSteady(long seed) throws Exception {
    return startSteady(seed, 3);
  }

  private SimLogMember startSteady(long seed, int count) throws Exception {
    start(seed, count);
    SimLogMember leader = awaitLeader();
    scheduler.pass(STEADY_NS);
    return leader;
  }

  private List<SimLogMember> followersOf(SimLogMember leader) {
    return members.stream().filter(each -> each != leader).toList();
  }

  private void start(long seed) throws Exception {
    start(seed, 3);
  }

  private void start(long seed, int count) throws Exception {
    scheduler = new SimScheduler(seed);
    network = new SimNetwork(scheduler, SimConditions.CALM);
    Set<Integer> all = IntStream.rangeClosed(1, count).boxed().collect(Collectors.toSet());
    SimCatalog catalog = new SimCatalog(scheduler, all.size(), all, Set.of());
    catalog.calmDown();
    LogHistory history = new LogHistory();
    members = new ArrayList<>();
    for (int id = 1; id <= count; id++) {
      members.add(
          new SimLogMember(
              network, id, members, catalog, history, 0, 0, Set.of(), 0, false, Set.of()));
    }
    for (SimLogMember member : members) {
      assertThat(member.start()).isTrue();
    }
  }

  private SimLogMember awaitLeader() {
    scheduler.await(LIMIT_NS, () -> leader() != null);
    return leader();
  }

  private SimLogMember leader() {
    return members.stream()
        .filter(member -> member.isAlive() && member.member().leadingTerm() != 0)
        .findFirst()
        .orElse(null);
  }
}
