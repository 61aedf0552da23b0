package io.takofs.server.log;

import io.takofs.base.Clock;
import io.takofs.base.TakoException;
import io.takofs.proto.GroupStatus;
import io.takofs.proto.MemberStatus;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Predicate;

/**
 * The duties of a member in the term in which it leads, or is about to: it brings the others in,
 * writes heartbeats to them, and proves reads.
 *
 * <p>Thread rule: the holder of the replica's monitor.
 */
final class LeaderRole {
  /** Heartbeats that a member may be late with, and is still reached. */
  private static final int BEATS_LATE = 3;

  private final int group;
  private final LogReplica replica;
  private final ReplicatedLog log;
  private final LogPeers peers;
  private final GroupCatalog catalog;
  private final LogTimes times;
  private final Clock clock;
  private final Map<Integer, FollowerSetup> setups = new HashMap<>();
  private Set<Integer> learners = Set.of();
  private GroupConfig config;
  private long term;
  private boolean opened;
  private boolean leads;
  private long beat;
  private long beatDueNs;
  private long wantedBeat;
  private boolean activated; // the configuration, by an entry of this leader or an earlier one
  private long majorityNs;
  private long verifyDueNs; // while somebody does not adopt the log
  private long verifyNext; // the segment to look at; 0 for the first
  private boolean leaseReleased; // in the present term

  LeaderRole(
      int group,
      LogReplica replica,
      ReplicatedLog log,
      LogPeers peers,
      GroupCatalog catalog,
      LogTimes times,
      Clock clock) {
    this.group = group;
    this.replica = replica;
    this.log = log;
    this.peers = peers;
    this.catalog = catalog;
    this.times = times;
    this.clock = clock;
  }

  /** Whether this member leads, or is about to. */
  boolean isOpen() {
    return opened;
  }

  /** Whether a majority has adopted the log, and has a state, so that this member leads. */
  boolean leads() {
    return leads;
  }

  /**
   * Makes the log that of {@code next}, and begins to bring the others in.
   *
   * @throws TakoException as {@link ReplicatedLog#open}; then nothing has begun
   */
  void open(GroupConfig members, long next, long now) throws TakoException {
    log.setMembers(members.members());
    log.open(next);
    config = members;
    term = next;
    opened = true;
    leads = false;
    leaseReleased = false;
    activated = config.active();
    majorityNs = now;
    verifyDueNs = now + 2 * times.electionMaxNs();
    verifyNext = 0;
    beatDueNs = now;
    for (int other : config.members()) {
      if (other != replica.server()) {
        setups.put(other, setup(other));
      }
    }
  }

  /** Leads no more, and is not about to. */
  void end() {
    setups.values().forEach(FollowerSetup::end);
    setups.clear();
    if (opened) {
      log.follow();
    }
    opened = false;
    leads = false;
  }

  private FollowerSetup setup(int server) {
    return new FollowerSetup(server, group, term, config.epoch(), replica, log, peers, times);
  }

  /**
   * Does what is due.
   *
   * @return false when this member must lead no more: another one leads or will, or its log is
   *     damaged
   */
  boolean tick(long now) {
    bringInLearners();
    long refused = 0;
    boolean notWhole = false;
    for (FollowerSetup setup : setups.values()) {
      setup.tick(now);
      refused = Math.max(refused, setup.refusedTerm());
      notWhole |= setup.isNotWhole();
    }
    beat(now);
    if (reachesMajority()) {
      majorityNs = now;
    }
    if (refused > term || now - majorityNs > 2 * times.electionMaxNs()) {
      return false; // a leader that reaches no majority helps nobody
    }
    if (leads && !notWhole) {
      verifyNext = 0; // who cannot adopt later is no fault of what was looked at before
      verifyDueNs = now + 2 * times.electionMaxNs();
    } else if (now - verifyDueNs >= 0 && !verify(now)) {
      return false;
    }
    if (!leads && log.isAdopted()) {
      try {
        log.begin();
        leads = true;
      } catch (TakoException e) {
        return false;
      }
    }
    log.advance();
    if (leads && !activated && log.hasBegun()) {
      activated = true;
      catalog.activate(config.epoch());
    }
    return true;
  }

  /**
   * Looks at one segment, which takes 2 ms. A frame whose bits changed here is adopted by nobody
   * who lacks it, also when a majority has it already.
   */
  private boolean verify(long now) {
    verifyNext = replica.verify(verifyNext);
    verifyDueNs = verifyNext == 0 ? now + 2 * times.electionMaxNs() : now;
    if (replica.damage() != null) {
      return false;
    }
    if (verifyNext == 0) {
      setups.values().forEach(FollowerSetup::writeAgain);
    }
    return true;
  }

  /** A member that still takes an earlier heartbeat gets the newest one afterwards. */
  private void beat(long now) {
    if (now - beatDueNs >= 0 || wantedBeat > beat) {
      beatDueNs = now + times.heartbeatNs();
      beat++;
    }
    for (int server : setups.keySet()) {
      FollowerStream stream = log.stream(server);
      if (stream != null && stream.beatSent() < beat) {
        stream.beat(beat, term, log.commitIndex(), now);
      }
    }
  }

  /**
   * Whether a majority has taken one of the last heartbeats: until this member leads, because what
   * others lack may take long, and then one with which it can commit.
   */
  private boolean reachesMajority() {
    long since = beat - BEATS_LATE;
    return isMajority(stream -> (stream.counts() || !leads) && stream.beatWritten() >= since);
  }

  /** Whether this member and those others that {@code counts} are a majority. */
  private boolean isMajority(Predicate<FollowerStream> counts) {
    int count = 1;
    for (int server : config.members()) {
      FollowerStream stream = log.stream(server);
      if (stream != null && counts.test(stream)) {
        count++;
      }
    }
    return 2 * count > config.members().size();
  }

  /** Sends heartbeats that had to wait until earlier sends were complete. */
  void pump() {
    log.advance();
    if (leads && wantedBeat > beat) {
      beat(clock.nanoTime());
      log.advance();
    }
  }

  // ---- learners -----------------------------------------------------------------------------

  /** As {@link LogMember#setLearners}. */
  void setLearners(Set<Integer> servers) {
    learners = Set.copyOf(servers);
  }

  /** Brings in those that are to learn, and none that is to learn no more. */
  private void bringInLearners() {
    if (!leads) {
      return;
    }
    for (int server : List.copyOf(setups.keySet())) {
      if (!config.members().contains(server) && !learners.contains(server)) {
        setups.remove(server).end();
        log.detach(server);
      }
    }
    for (int server : learners) {
      if (server != replica.server()) {
        setups.computeIfAbsent(server, this::setup);
      }
    }
  }

  /** As {@link LogMember#isCaughtUp}. */
  boolean isCaughtUp(int server, long lag) {
    FollowerStream stream = leads ? log.stream(server) : null;
    return stream != null
        && stream.counts()
        && !stream.hasFailed()
        && stream.writtenIndex() + lag >= log.lastIndex();
  }

  // ---- reading ------------------------------------------------------------------------------

  /** Whether this member leads in {@code asked}, with an entry of that term committed. */
  boolean hasBegun(long asked) {
    return leads && term == asked && replica.isLeading(term) && log.hasBegun();
  }

  /** Begins a read; returns the heartbeat that it waits for. */
  long beginRead() {
    wantedBeat = beat + 1;
    beat(clock.nanoTime());
    log.advance();
    return wantedBeat;
  }

  /** As {@link LogMember#isProven}. */
  boolean isProven(long asked, long wanted) {
    return hasBegun(asked)
        && isMajority(stream -> stream.isAdopted() && stream.beatWritten() >= wanted);
  }

  /** As {@link LogMember#hasLease}. */
  boolean hasLease(long asked) {
    if (times.leaseNs() == 0 || leaseReleased || !hasBegun(asked)) {
      return false;
    }
    long now = clock.nanoTime();
    return isMajority(stream -> stream.isAdopted() && stream.isHeld(now, times));
  }

  /** As {@link LogMember#releaseLease}. */
  void releaseLease() {
    leaseReleased = true;
  }

  // ---- what is shown ------------------------------------------------------------------------

  /** The members as this leader sees them. */
  GroupStatus status() {
    GroupStatus.Builder status =
        GroupStatus.newBuilder()
            .setId(group)
            .setLeader(replica.server())
            .setTerm(term)
            .setConfigEpoch(config.epoch())
            .setActive(activated && log.hasBegun())
            .setLastIndex(log.lastIndex())
            .setCommitIndex(log.commitIndex())
            .addMembers(
                MemberStatus.newBuilder()
                    .setServer(replica.server())
                    .setReached(true)
                    .setWrittenIndex(log.lastIndex()));
    for (Map.Entry<Integer, FollowerSetup> each : new TreeMap<>(setups).entrySet()) {
      FollowerStream stream = log.stream(each.getKey());
      status.addMembers(
          MemberStatus.newBuilder()
              .setServer(each.getKey())
              .setLearner(!config.members().contains(each.getKey()))
              .setReached(stream != null && stream.counts() && !stream.hasFailed())
              .setWrittenIndex(stream == null ? 0 : stream.writtenIndex())
              .setProblem(stream != null && stream.counts() ? "" : each.getValue().lastRefusal()));
    }
    return status.build();
  }

  /** For messages. */
  @Override
  public String toString() {
    return setups.values().toString();
  }
}
