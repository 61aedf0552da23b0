package io.takofs.server.log;

import io.takofs.base.Clock;
import io.takofs.base.TakoException;
import io.takofs.proto.AskLog;
import io.takofs.proto.LogPosition;
import io.takofs.proto.PrepareLog;
import io.takofs.proto.Reply;
import io.takofs.proto.Request;
import io.takofs.proto.Status;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/**
 * A member that stands for election. It asks first whether the others miss the leader, too, so that
 * a member that is cut off alone disturbs nobody; those that do let it stand first. Then it needs
 * promises of a majority, and takes the best log among theirs, by accepted term and then by length.
 *
 * <p>Thread rule: the holder of the replica's monitor.
 */
final class Election {
  private final int group;
  private final LogReplica replica;
  private final LogPeers peers;
  private final LogTimes times;
  private final Clock clock;
  private final LeaderWatch watch;
  private final ReadHold hold;
  private final Outcome outcome;
  private final Ballot ballot;
  private final BetterLog better;
  private final Map<Integer, LogTransport> transports = new HashMap<>(); // to those asked
  private LogMember.Role role = LogMember.Role.FOLLOWER;
  private GroupConfig config;
  private long term;
  private long highestTerm;
  private String lacking = ""; // entries that those lack that have promised so far
  private String shortage = ""; // why the last election was lost
  private long committedIndex; // as those know that have promised so far
  private PrepareLog prepare; // what is asked for in this round
  private long releasedTerm; // in which the leader said that it uses its lease no more; 0 for none

  /** Learns how the election ends. */
  interface Outcome {
    /** A majority has promised, and the best log is here. */
    void won(long now);

    /** It cannot be won now. */
    void lost();
  }

  Election(
      int group,
      LogReplica replica,
      LogPeers peers,
      LogTimes times,
      Clock clock,
      LeaderWatch watch,
      ReadHold hold,
      Outcome outcome) {
    this.group = group;
    this.replica = replica;
    this.peers = peers;
    this.times = times;
    this.clock = clock;
    this.watch = watch;
    this.hold = hold;
    this.outcome = outcome;
    ballot = new Ballot(replica, peers);
    better = new BetterLog(replica, peers);
  }

  /** The part that the member plays in it; FOLLOWER when it does not stand. */
  LogMember.Role role() {
    return role;
  }

  /** The term of this election or the last one. */
  long term() {
    return term;
  }

  /** Whatever was lacked does not matter any more: somebody leads. */
  void forgetShortage() {
    shortage = "";
  }

  /** The entries that those that promised lacked when the last election was lost; else empty. */
  String shortage() {
    return shortage;
  }

  /** The highest index that those that promised know to be committed, when it is won. */
  long committedIndex() {
    return committedIndex;
  }

  /** The configuration of this election or the last one. */
  GroupConfig config() {
    return config;
  }

  /** Does what is due; nothing while this member does not stand. */
  void tick(long now) {
    if (role == LogMember.Role.READING) {
      read(now);
    } else if (role != LogMember.Role.FOLLOWER) {
      awaitAnswers(now);
    }
  }

  /** Nanoseconds until somebody is to be asked again; {@code most} when nobody is. */
  long pauseNs(long now, long most) {
    return ballot.pauseNs(now, most);
  }

  /** Stands no more: answers that are late do nothing. */
  void end() {
    better.end();
    ballot.close();
    role = LogMember.Role.FOLLOWER;
  }

  private void awaitAnswers(long now) {
    if (watch.isDue(now)) {
      lose();
      return;
    }
    Set<Integer> again = ballot.takeBusy(now);
    if (!again.isEmpty()) {
      askForPromises(again);
    }
  }

  // ---- whether the leader is missed -----------------------------------------------------------

  /** Asks whether the others of {@code read} miss the leader, too, and stands if they do. */
  void ask(GroupConfig read, long now) {
    config = read;
    role = LogMember.Role.ASKING;
    lacking = "";
    releasedTerm = 0;
    beginRound(now);
    highestTerm = Math.max(highestTerm, replica.promisedTerm());
    ballot.accept(replica.server(), LogPosition.getDefaultInstance());
    Request request =
        Request.newBuilder()
            .setAskLog(
                AskLog.newBuilder()
                    .setGroup(group)
                    .setTerm(highestTerm + 1)
                    .setEpoch(config.epoch())
                    .setCandidate(replica.server())
                    .addAllCopiedEpochs(config.copiedEpochs()))
            .build();
    ballot.ask(config.asked(), server -> request, this::onAsked);
    prepareIfMissed(now);
  }

  private void beginRound(long now) {
    ballot.open(config, watch.missed());
    watch.awaitAnswers(now);
  }

  private void onAsked(int server, Reply reply) {
    LogPosition position = reply.getLogPosition();
    highestTerm = Math.max(highestTerm, position.getPromisedTerm());
    if (reply.getStatus() == Status.OK && position.getMissesLeader()) {
      ballot.accept(server, position);
      prepareIfMissed(clock.nanoTime());
    } else if (role == LogMember.Role.ASKING && watch.missed() != 0) {
      ballot.refuse(server);
      if (ballot.isLost()) {
        lose();
        watch.askAgainSoon(clock.nanoTime());
      }
    }
  }

  private void prepareIfMissed(long now) {
    if (role != LogMember.Role.ASKING || !ballot.isWon()) {
      return;
    }
    if (watch.lookAgain(now)) {
      lose(); // the leader has shown itself while the others were asked
    } else {
      prepare(now);
    }
  }

  // ---- promises -------------------------------------------------------------------------------

  /**
   * Stands in {@code read}, whether the leader is missed or not.
   *
   * @param released as of {@link LogMember#stand(long)}
   */
  void prepare(GroupConfig read, long released, long now) {
    config = read;
    releasedTerm = released;
    prepare(now);
  }

  private void prepare(long now) {
    role = LogMember.Role.PREPARING;
    long floor = Math.max(config.term(), replica.lastTerm()); // of a log that had no elections
    term = Math.max(Math.max(highestTerm, floor), replica.promisedTerm()) + 1;
    lacking = "";
    beginRound(now);
    int leader = replica.promisedTo();
    prepare =
        PrepareLog.newBuilder()
            .setGroup(group)
            .setTerm(term)
            .setCandidate(replica.server())
            .setEpoch(config.epoch())
            .setReleasedTerm(releasedTerm)
            .addAllCopiedEpochs(config.copiedEpochs())
            .build();
    try {
      ballot.accept(replica.server(), hold.promise(prepare));
    } catch (TakoException e) {
      lose();
      return;
    }
    watch.shutOut(leader);
    askForPromises(config.asked());
    readIfPromised(now);
  }

  private void askForPromises(Set<Integer> servers) {
    ballot.ask(servers, this::prepareFor, this::onPrepared);
  }

  private Request prepareFor(int server) {
    LogTransport via = peers.transportTo(server);
    if (via == null) {
      transports.remove(server);
      return Request.newBuilder().setPrepareLog(prepare).build();
    }
    transports.put(server, via);
    return Request.newBuilder().setPrepareLog(prepare.toBuilder().setTransport(via.name())).build();
  }

  private void onPrepared(int server, Reply reply) {
    if (role != LogMember.Role.PREPARING || !replica.standsIn(term)) {
      return;
    }
    long now = clock.nanoTime();
    highestTerm = Math.max(highestTerm, reply.getLogPosition().getPromisedTerm());
    switch (reply.getStatus()) {
      case OK -> {
        ballot.accept(server, reply.getLogPosition());
        readIfPromised(now);
      }
      case BUSY, UNAVAILABLE -> {
        ballot.repeat(server, now + times.heartbeatNs() / 2);
        standAgainIfLost(now);
      }
      case STALE_TERM -> {
        ballot.refuse(server);
        standAgainIfLost(now);
        loseIfComplete();
      }
      default -> { // it would promise nothing in a later term either
        ballot.end(server);
        loseIfComplete();
      }
    }
  }

  private void loseIfComplete() {
    if (role == LogMember.Role.PREPARING && ballot.isWon() && ballot.isComplete()) {
      lose();
    }
  }

  /** It cannot be won now, and those that promised may not have all. */
  private void lose() {
    shortage = lacking;
    outcome.lost();
  }

  private void standAgainIfLost(long now) {
    if (ballot.isLost()) {
      lose();
      watch.standAgainSoon(now);
    }
  }

  // ---- the best log ---------------------------------------------------------------------------

  private void readIfPromised(long now) {
    if (!ballot.isWon()) {
      return;
    }
    int from = replica.server();
    LogPosition best = ballot.answers().get(from);
    for (Map.Entry<Integer, LogPosition> each : ballot.answers().entrySet()) {
      if (isBetter(each.getValue(), best)) {
        from = each.getKey();
        best = each.getValue();
      }
    }
    lacking = lackingOf(best);
    if (!lacking.isEmpty()) {
      loseIfComplete(); // else the others may have what one of these has lost
    } else if (from == replica.server()) {
      win(now);
    } else {
      beginReading(now, from, best);
    }
  }

  /** Names the entries that the best log of those that promised lacks; empty when it lacks none. */
  private String lackingOf(LogPosition best) {
    long last = best.getLastIndex();
    committedIndex = committed(ballot.answers().values(), best.getAcceptedTerm());
    if (last < committedIndex) {
      return "entries up to %d are committed, and the logs of those that promised end with %d"
          .formatted(committedIndex, last);
    }
    long counted = counted(best);
    return counted == 0
        ? ""
        : "entries up to %d may be committed, and the logs of those that promised end with %d"
            .formatted(counted, last);
  }

  /**
   * The highest index after the end of {@code best} that a leader counted at one of those that
   * promised, whose log has lost it; 0 when there is none, or none that can be committed: those
   * that have promised without it, of whatever term their log is, never had it in the log of that
   * leader.
   */
  private long counted(LogPosition best) {
    long counted = 0;
    Set<Integer> mayHave = new HashSet<>(config.asked());
    for (Map.Entry<Integer, LogPosition> each : ballot.answers().entrySet()) {
      LogPosition position = each.getValue();
      if (position.getAcceptedTerm() == best.getAcceptedTerm()
          && position.getCountedIndex() > best.getLastIndex()) {
        counted = Math.max(counted, position.getCountedIndex());
      } else {
        mayHave.remove(each.getKey());
      }
    }
    return config.mayCommit(mayHave) ? counted : 0;
  }

  /**
   * The highest index that those that promised know to be committed. A log of an earlier term than
   * {@code acceptedTerm} names nothing that the leader of that term lacked.
   */
  private static long committed(Collection<LogPosition> answers, long acceptedTerm) {
    long committed = 0;
    for (LogPosition each : answers) {
      boolean counts = each.getAcceptedTerm() >= acceptedTerm;
      committed = Math.max(committed, each.getCheckpointIndex());
      committed = Math.max(committed, counts ? each.getCommitIndex() : 0);
    }
    return committed;
  }

  private static boolean isBetter(LogPosition one, LogPosition than) {
    return one.getAcceptedTerm() != than.getAcceptedTerm()
        ? one.getAcceptedTerm() > than.getAcceptedTerm()
        : one.getLastIndex() > than.getLastIndex();
  }

  private void beginReading(long now, int from, LogPosition best) {
    LogTransport via = transports.get(from);
    if (via == null) {
      lose(); // it said what it has, and cannot be read
      return;
    }
    role = LogMember.Role.READING;
    lacking = "";
    beginRound(now);
    better.begin(from, via, best, term, this::lose);
  }

  private void read(long now) {
    if (better.read()) {
      watch.awaitAnswers(now);
    }
    if (better.hasFailed() || watch.isDue(now)) {
      lose();
    } else if (better.isDone()) {
      try {
        better.take(term);
      } catch (TakoException e) {
        lose();
        return;
      }
      win(now);
    }
  }

  private void win(long now) {
    end();
    outcome.won(now);
  }
}
