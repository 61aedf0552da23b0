package io.takofs.server.log;

import java.util.Random;

/**
 * When a member acts because nobody else does: it misses a leader from which it has had no
 * heartbeat for a drawn time, or whose connection has ended by itself, which tells of the death of
 * a process at once. Then the members act one after the other, in the order of their numbers from
 * the leader's on, so that they do not split the promises.
 *
 * <p>Thread rule: the holder of the replica's monitor.
 */
final class LeaderWatch {
  /** The first pause after the others did not miss the leader yet is so small a part of a beat. */
  private static final int SHORTEST_PAUSE = 16;

  private final LogReplica replica;
  private final GroupCatalog catalog;
  private final LogTimes times;
  private final Random random;
  private long dueNs;
  private boolean inTurn; // what is due is this member's turn after the end of a connection
  private boolean silent; // nobody has led for the time that this member waited
  private boolean severed; // the leader's connection had ended at the last look
  private int missed; // the leader that is known to be gone, while no next one was heard; 0: none
  private int notMissed; // how often others did not miss that leader

  LeaderWatch(LogReplica replica, GroupCatalog catalog, LogTimes times, Random random, long now) {
    this.replica = replica;
    this.catalog = catalog;
    this.times = times;
    this.random = random;
    await(now);
  }

  /** The leader that is known to be gone, while no next one was heard; 0 for none. */
  int missed() {
    return missed;
  }

  /** Whether this member, which follows, misses its leader. */
  boolean isMissing(long now) {
    return missed != 0 || silent || replica.isSevered() || isDue(now);
  }

  /** Whether what was waited for has not come in time. */
  boolean isDue(long now) {
    return now - dueNs >= 0;
  }

  /** Whether the leader's connection has ended, and this member waits for its turn since. */
  boolean isInTurn() {
    return inTurn;
  }

  /** Nanoseconds until {@link #isDue}, not above 0 when it is. */
  long pauseNs(long now) {
    return dueNs - now;
  }

  /**
   * As {@link #look}, and at what has come since the member's thread looked: it may not have run
   * for long.
   */
  boolean lookAgain(long now) {
    replica.scan();
    return look(now);
  }

  /** Looks at the leader's connection and heartbeats; returns whether it has shown itself. */
  boolean look(long now) {
    boolean was = severed;
    severed = replica.isSevered();
    boolean beats = replica.hasHeard();
    if (severed && !was) {
      missed = replica.promisedTo(); // whatever it said last
      notMissed = 0;
      waitUntil(now + turnOf(replica.server()) * times.heartbeatNs() / 2);
      inTurn = true;
      return false;
    }
    if (beats) {
      heard();
      await(now);
    }
    return beats;
  }

  /** Somebody leads, or may. */
  void heard() {
    missed = 0;
    silent = false;
  }

  /**
   * Somebody leads who has called. A member that heard of no leader for long, or not since it
   * started, lets others stand all the same until it is connected.
   */
  void called() {
    missed = 0;
  }

  /** Lets another member stand that misses the leader, too. */
  void leaveToOthers(long now) {
    silent = true;
    await(now);
  }

  /** This member has shut {@code leader} out, so that it will hear nothing of it. */
  void shutOut(int leader) {
    if (missed == 0 && leader != replica.server()) {
      missed = leader;
    }
  }

  /** Waits for a leader to show itself. */
  void await(long now) {
    long least = missed != 0 ? times.heartbeatNs() : times.electionMinNs();
    long most = missed != 0 ? 2 * times.heartbeatNs() : times.electionMaxNs();
    waitUntil(now + least + drawn(most - least));
  }

  /** Waits for answers, or for what is read. */
  void awaitAnswers(long now) {
    waitUntil(now + times.electionMinNs());
  }

  /** Lets another member act first. */
  void giveWay(long now) {
    waitUntil(now + times.heartbeatNs() + drawn(times.heartbeatNs() / 4));
  }

  /** Others do not miss the leader that is gone: they may not have seen it yet. */
  void askAgainSoon(long now) {
    long pauseNs = (times.heartbeatNs() / SHORTEST_PAUSE) << notMissed;
    if (pauseNs < times.heartbeatNs()) {
      waitUntil(now + pauseNs);
      notMissed++;
    }
  }

  /** Promises were split: not all of those that stood do so again at once. */
  void standAgainSoon(long now) {
    long turn = turnOf(replica.server());
    waitUntil(now + (turn * times.heartbeatNs() + drawn(times.heartbeatNs())) / 4);
  }

  private void waitUntil(long dueNs) {
    this.dueNs = dueNs;
    inTurn = false;
  }

  private long drawn(long most) {
    return (long) (random.nextDouble() * most);
  }

  /** How many other members come before {@code candidate} when the present leader is missed. */
  int turnOf(int candidate) {
    int before = 0;
    for (int member : catalog.read().members()) {
      boolean isBetween =
          missed < candidate
              ? missed < member && member < candidate
              : member > missed || member < candidate;
      if (isBetween) {
        before++;
      }
    }
    return before;
  }
}
