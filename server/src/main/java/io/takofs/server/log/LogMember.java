package io.takofs.server.log;

import io.takofs.base.Clock;
import io.takofs.base.TakoException;
import io.takofs.proto.AskLog;
import io.takofs.proto.GroupStatus;
import io.takofs.proto.LogGrant;
import io.takofs.proto.LogPosition;
import io.takofs.proto.LogSegment;
import io.takofs.proto.MemberStatus;
import io.takofs.proto.PrepareLog;
import io.takofs.proto.Reply;
import io.takofs.proto.Request;
import io.takofs.proto.Status;
import io.takofs.transport.CompletionStatus;
import io.takofs.transport.Opcode;
import io.takofs.transport.QueuePair;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.IntFunction;

/**
 * One member of a group: it follows its leader, misses it, and stands for election.
 *
 * <p>It misses a leader from which it has had no heartbeat for a drawn time, or whose connection
 * has ended by itself, which tells of the death of a process at once.
 *
 * <p>A candidate asks first whether the others miss the leader, too, so that a member that is cut
 * off alone disturbs nobody. Then it needs promises of a majority, takes the best log among theirs,
 * by accepted term and then by length, and brings a majority to have it before it appends anything.
 *
 * <p>Thread rule: any thread; all holds the replica's monitor.
 */
public final class LogMember {
  /** Heartbeats that a member may be late with, and is still reached. */
  private static final int BEATS_LATE = 3;

  private static final int COMPLETIONS_AT_ONCE = 64;

  private final int group;
  private final LogReplica replica;
  private final ReplicatedLog log;
  private final LogPeers peers;
  private final GroupCatalog catalog;
  private final LogTimes times;
  private final Clock clock;
  private final Random random;
  private final ReadHold hold;
  private final Map<Integer, LogPosition> answers = new HashMap<>();
  private final Set<Integer> refusals = new HashSet<>(); // to miss the leader, too
  private final Map<Integer, FollowerSetup> setups = new HashMap<>();
  private Set<Integer> learners = Set.of();
  private final Map<Integer, LogTransport> transports = new HashMap<>(); // to those asked
  private Role role = Role.FOLLOWER;
  private GroupConfig config;
  private long term;
  private long highestTerm;
  private long round;
  private long dueNs;
  private long beat;
  private long beatDueNs;
  private long wantedBeat;
  private boolean activated; // the configuration, by an entry of this leader or an earlier one
  private long majorityNs;
  private long verifyDueNs; // while no majority adopts the log
  private long verifyNext; // the segment to look at; 0 for the first
  private LogPosition best;
  private SegmentReader reader;
  private boolean able = true; // to lead
  private boolean severed; // the leader's connection had ended at the last look
  private long releasedTerm; // in which the leader said that it uses its lease no more; 0 for none
  private boolean leaseReleased; // by this leader, in its present term

  /** The part that a member plays. */
  public enum Role {
    /** Is written to by a leader, or waits for one. */
    FOLLOWER,
    /** Asks whether the others miss the leader. */
    ASKING,
    /** Collects promises. */
    PREPARING,
    /** Reads a better log than its own. */
    READING,
    /** Brings a majority to have its log. */
    OPENING,
    /** Leads. */
    LEADING
  }

  public LogMember(
      int group,
      LogReplica replica,
      ReplicatedLog log,
      LogPeers peers,
      GroupCatalog catalog,
      LogTimes times,
      Clock clock,
      Random random) {
    this.group = group;
    this.replica = replica;
    this.log = log;
    this.peers = peers;
    this.catalog = catalog;
    this.times = times;
    this.clock = clock;
    this.random = random;
    await(clock.nanoTime());
    hold = new ReadHold(replica, times.holdNs(), clock);
  }

  public Role role() {
    synchronized (replica) {
      return role;
    }
  }

  /** The term in which this member leads, or stands for election; else 0. */
  public long term() {
    synchronized (replica) {
      return role == Role.FOLLOWER ? 0 : term;
    }
  }

  /** The configuration that this member acts on as a candidate or a leader. */
  public GroupConfig config() {
    synchronized (replica) {
      return config;
    }
  }

  // ---- what others ask ----------------------------------------------------------------------

  /** Answers a call of another member. Never waits. */
  public Reply handle(Request request) {
    synchronized (replica) {
      try {
        return switch (request.getOperationCase()) {
          case ASK_LOG -> ok(answer(request.getAskLog()));
          case PREPARE_LOG -> {
            LogPosition position = prepared(request.getPrepareLog());
            hear();
            yield ok(position);
          }
          case GRANT_LOG -> {
            LogGrant grant = replica.grant(request.getGrantLog());
            hear();
            yield Reply.newBuilder()
                .setLogGrant(grant.toBuilder().setHoldNs(times.holdNs()))
                .build();
          }
          case ADOPT_LOG -> {
            LogPosition position = replica.adopt(request.getAdoptLog());
            hear();
            yield ok(position);
          }
          case EXTEND_LOG ->
              Reply.newBuilder().setLogGrant(replica.extend(request.getExtendLog())).build();
          default ->
              throw new TakoException(
                  Status.INVALID_ARGUMENT,
                  "a member of a group is not asked for " + request.getOperationCase());
        };
      } catch (UncheckedIOException e) {
        return Reply.newBuilder().setStatus(Status.UNAVAILABLE).setMessage(e.toString()).build();
      } catch (TakoException e) {
        return Reply.newBuilder()
            .setStatus(e.status())
            .setMessage(e.getMessage())
            .setLogPosition(LogPosition.newBuilder().setPromisedTerm(replica.promisedTerm()))
            .build();
      }
    }
  }

  /**
   * Promises, unless a leader may still answer reads by its lease. A heartbeat that is noticed only
   * when the leader has been shut out holds as well: then the promise is made, and the candidate,
   * which is not told of it, has to stand again.
   */
  private LogPosition prepared(PrepareLog request) throws TakoException {
    hold.check(request);
    LogPosition position = replica.prepare(request);
    hold.check(request);
    return position;
  }

  private static Reply ok(LogPosition position) {
    return Reply.newBuilder().setLogPosition(position).build();
  }

  private LogPosition answer(AskLog request) {
    boolean misses =
        switch (role) {
          case READING, OPENING, LEADING -> false;
          case FOLLOWER -> replica.isSevered() || clock.nanoTime() - dueNs >= 0;
          default -> true;
        };
    misses &= request.getEpoch() >= replica.epoch() && request.getTerm() > replica.promisedTerm();
    misses &= replica.damage() == null; // it would promise nothing
    return LogPosition.newBuilder()
        .setPromisedTerm(replica.promisedTerm())
        .setEpoch(replica.epoch())
        .setAcceptedTerm(replica.acceptedTerm())
        .setLastIndex(replica.lastIndex())
        .setMissesLeader(misses)
        .build();
  }

  /** Somebody who may lead has shown himself. */
  private void hear() {
    if (role == Role.ASKING || (role != Role.FOLLOWER && !holdsTerm())) {
      stepDown(); // what this one wanted to ask for is there
    }
    if (role == Role.FOLLOWER) {
      await(clock.nanoTime());
    }
  }

  private void await(long now) {
    long least = replica.isSevered() ? times.heartbeatNs() : times.electionMinNs();
    long most = replica.isSevered() ? 2 * times.heartbeatNs() : times.electionMaxNs();
    dueNs = now + least + (long) (random.nextDouble() * (most - least));
  }

  /**
   * The leader's connection has ended: its process died, unless it connects again. The members ask
   * one after the other, in the order of their numbers from the leader's on, so that they do not
   * split the promises.
   */
  private void onSevered(long now) {
    int leader = replica.promisedTo();
    int self = replica.server();
    int before = 0;
    for (int member : catalog.read().members()) {
      boolean isBetween =
          leader < self ? leader < member && member < self : member > leader || member < self;
      if (isBetween) {
        before++;
      }
    }
    dueNs = now + before * times.heartbeatNs() / 2;
  }

  /** Whether this member's promise is still its own. */
  private boolean holdsTerm() {
    return role == Role.ASKING || replica.standsIn(term);
  }

  // ---- what is due --------------------------------------------------------------------------

  /** Does what is due; to be called several times in a heartbeat's time. */
  public void tick() {
    synchronized (replica) {
      long now = clock.nanoTime();
      replica.poll();
      log.advance();
      hold.look();
      if (role != Role.FOLLOWER && (!holdsTerm() || replica.damage() != null)) {
        stepDown();
      }
      switch (role) {
        case FOLLOWER -> follow(now);
        case ASKING, PREPARING -> {
          if (now - dueNs >= 0) {
            stepDown();
          }
        }
        case READING -> read(now);
        case OPENING, LEADING -> lead(now);
      }
    }
  }

  private void follow(long now) {
    replica
        .transports()
        .poll(LogMember::ignore, COMPLETIONS_AT_ONCE); // of connections that have ended
    boolean was = severed;
    severed = replica.isSevered();
    if (replica.hasHeard()) {
      await(now);
    } else if (severed && !was) {
      onSevered(now);
    }
    if (now - dueNs >= 0 && replica.damage() == null) {
      ask(now);
    }
  }

  private static void ignore(
      QueuePair pair, long id, Opcode opcode, CompletionStatus status, int bytes, int immediate) {
    // Nobody waits for it any more.
  }

  /** Follows again whoever leads, and waits for him. */
  private void stepDown() {
    setups.values().forEach(FollowerSetup::end);
    setups.clear();
    endReading();
    if (role == Role.OPENING || role == Role.LEADING) {
      log.follow();
    }
    role = Role.FOLLOWER;
    round++;
    await(clock.nanoTime());
  }

  // ---- standing for election ----------------------------------------------------------------

  /**
   * Stands for election at once, though the leader is not missed: somebody wants it to move. A
   * leader does so when the configuration is another one than that in which it leads.
   */
  public void stand() {
    stand(0);
  }

  /**
   * As {@link #stand()}.
   *
   * @param released the leader of this term has asked for it, by {@link #releaseLease}; 0 for none
   */
  public void stand(long released) {
    synchronized (replica) {
      GroupConfig former = config;
      boolean mayStand = able && (role == Role.FOLLOWER || role == Role.LEADING);
      if (!mayStand || replica.damage() != null || !readConfig()) {
        config = former;
        return;
      }
      if (role == Role.LEADING) {
        if (config.epoch() == former.epoch()) {
          config = former;
          return;
        }
        stepDown();
      }
      releasedTerm = released;
      prepare(clock.nanoTime());
    }
  }

  /** Reads the configuration; whether this member may lead in it, as far as it knows. */
  private boolean readConfig() {
    config = catalog.read();
    return config.members().contains(replica.server()) && config.epoch() >= replica.epoch();
  }

  /**
   * Stands for no election from now on, since there is no state with which this server could lead.
   * It follows and votes as before: a vote says what is in the log, which is whole, and a majority
   * that counts it has every committed entry in its logs or in checkpoints of its other members. So
   * it keeps the group alive while it takes a state over.
   *
   * @return false when this member leads, or begins to; then nothing has changed
   */
  public boolean setUnable() {
    synchronized (replica) {
      if (role == Role.READING || role == Role.OPENING || role == Role.LEADING) {
        return false;
      }
      if (role != Role.FOLLOWER) {
        stepDown();
      }
      able = false;
      return true;
    }
  }

  /** There is a state again: this member stands for election when it misses a leader. */
  public void setAble() {
    synchronized (replica) {
      able = true;
    }
  }

  private void ask(long now) {
    if (!able || !readConfig()) {
      await(now);
      return;
    }
    role = Role.ASKING;
    releasedTerm = 0;
    beginRound(now);
    highestTerm = Math.max(highestTerm, replica.promisedTerm());
    answers.put(replica.server(), LogPosition.getDefaultInstance());
    refusals.clear();
    refusals.add(replica.isSevered() ? replica.promisedTo() : 0); // its own process has ended
    Request request =
        Request.newBuilder()
            .setAskLog(
                AskLog.newBuilder()
                    .setGroup(group)
                    .setTerm(highestTerm + 1)
                    .setEpoch(config.epoch()))
            .build();
    askOthers(server -> request, this::onAsked);
    prepareIfMissed(now);
  }

  private void beginRound(long now) {
    answers.clear();
    round++;
    dueNs = now + times.electionMinNs();
  }

  /** Takes the answer of a member in the present round. */
  private interface OnAnswer {
    void take(int server, Reply reply);
  }

  private void askOthers(IntFunction<Request> request, OnAnswer then) {
    long asked = round;
    for (int other : config.asked()) {
      if (other != replica.server()) {
        peers.call(
            other,
            request.apply(other),
            reply -> {
              synchronized (replica) {
                if (round == asked) {
                  then.take(other, reply);
                }
              }
            });
      }
    }
  }

  private void onAsked(int server, Reply reply) {
    LogPosition position = reply.getLogPosition();
    highestTerm = Math.max(highestTerm, position.getPromisedTerm());
    if (reply.getStatus() == Status.OK && position.getMissesLeader()) {
      answers.put(server, position);
      prepareIfMissed(clock.nanoTime());
    } else if (role == Role.ASKING && replica.isSevered()) {
      refusals.add(server);
      Set<Integer> others = new HashSet<>(config.asked());
      others.removeAll(refusals);
      if (!config.isQuorum(others)) {
        stepDown(); // those that refuse may not have seen it yet: they are asked again soon
      }
    }
  }

  private void prepareIfMissed(long now) {
    if (role == Role.ASKING && config.isQuorum(answers.keySet())) {
      prepare(now);
    }
  }

  private void prepare(long now) {
    role = Role.PREPARING;
    long floor = Math.max(config.term(), replica.lastTerm()); // of a log that had no elections
    term = Math.max(Math.max(highestTerm, floor), replica.promisedTerm()) + 1;
    beginRound(now);
    PrepareLog prepare =
        PrepareLog.newBuilder()
            .setGroup(group)
            .setTerm(term)
            .setCandidate(replica.server())
            .setEpoch(config.epoch())
            .setReleasedTerm(releasedTerm)
            .build();
    try {
      answers.put(replica.server(), prepared(prepare));
    } catch (TakoException e) {
      stepDown();
      return;
    }
    askOthers(server -> prepare(server, prepare), this::onPrepared);
    openIfPromised(now);
  }

  private Request prepare(int server, PrepareLog prepare) {
    LogTransport via = peers.transportTo(server);
    if (via == null) {
      transports.remove(server);
      return Request.newBuilder().setPrepareLog(prepare).build();
    }
    transports.put(server, via);
    return Request.newBuilder().setPrepareLog(prepare.toBuilder().setTransport(via.name())).build();
  }

  private void onPrepared(int server, Reply reply) {
    if (reply.getStatus() == Status.OK && role == Role.PREPARING && holdsTerm()) {
      answers.put(server, reply.getLogPosition());
      openIfPromised(clock.nanoTime());
    }
  }

  private void openIfPromised(long now) {
    if (!config.isQuorum(answers.keySet())) {
      return;
    }
    int from = replica.server();
    best = answers.get(from);
    long committed = 0;
    for (Map.Entry<Integer, LogPosition> each : answers.entrySet()) {
      committed = Math.max(committed, each.getValue().getCommitIndex());
      if (isBetter(each.getValue(), best)) {
        from = each.getKey();
        best = each.getValue();
      }
    }
    if (best.getLastIndex() < committed) {
      stepDown(); // a member has lost what it had: the others are waited for
    } else if (from == replica.server()) {
      open(now);
    } else {
      beginReading(now, from);
    }
  }

  private static boolean isBetter(LogPosition one, LogPosition than) {
    return one.getAcceptedTerm() != than.getAcceptedTerm()
        ? one.getAcceptedTerm() > than.getAcceptedTerm()
        : one.getLastIndex() > than.getLastIndex();
  }

  // ---- reading a better log -----------------------------------------------------------------

  private void beginReading(long now, int from) {
    LogTransport via = transports.get(from);
    if (via == null) {
      stepDown(); // it said what it has, and cannot be read
      return;
    }
    role = Role.READING;
    beginRound(now);
    long asked = round;
    peers.connect(
        from,
        via,
        term,
        0,
        pair -> {
          synchronized (replica) {
            if (round != asked || pair == null) {
              if (pair != null) {
                pair.close();
              }
              return;
            }
            onReadable(via, pair);
          }
        });
  }

  private void onReadable(LogTransport via, QueuePair pair) {
    List<LogSegment> missing = new ArrayList<>();
    boolean same = true;
    for (LogSegment each : best.getSegmentsList()) {
      Segment mine = replica.chain().get(each.getSequence());
      same &= mine != null && FollowerSetup.isSame(mine, each);
      if (!same) {
        missing.add(each);
      }
    }
    if (!missing.isEmpty() && !replica.continuesWith(missing.get(0))) {
      pair.close();
      stepDown(); // a checkpoint has to come before
      return;
    }
    List<Integer> slots = new ArrayList<>();
    for (int i = 0; i < missing.size(); i++) {
      Integer slot = replica.takeSlot();
      if (slot != null) {
        slots.add(slot);
      }
    }
    reader = new SegmentReader(via.memory(), pair, missing, slots);
    if (slots.size() < missing.size()) {
      stepDown();
    }
  }

  private void read(long now) {
    if (reader == null) {
      if (now - dueNs >= 0) {
        stepDown();
      }
      return;
    }
    reader.read();
    while (replica.transports().poll(reader::onCompletion, 1) > 0) {
      dueNs = now + times.electionMinNs();
      reader.read();
    }
    if (reader.hasFailed() || now - dueNs >= 0) {
      stepDown();
    } else if (reader.isDone()) {
      try {
        if (!reader.segments().isEmpty()) {
          replica.takeOver(term, reader.segments(), reader.slots());
        }
        reader.slots().clear();
        endReading();
        open(now);
      } catch (TakoException e) {
        stepDown();
      }
    }
  }

  private void endReading() {
    if (reader != null) {
      reader.pair().close();
      replica.giveSlots(List.copyOf(reader.slots()));
      reader = null;
    }
  }

  // ---- leading ------------------------------------------------------------------------------

  private void open(long now) {
    try {
      log.setMembers(config.members());
      log.open(term);
    } catch (TakoException e) {
      stepDown();
      return;
    }
    role = Role.OPENING;
    leaseReleased = false;
    activated = config.active();
    round++;
    majorityNs = now;
    verifyDueNs = now + 2 * times.electionMaxNs();
    verifyNext = 0;
    beatDueNs = now;
    for (int other : config.members()) {
      if (other != replica.server()) {
        setups.put(other, setup(other));
      }
    }
    lead(now);
  }

  private FollowerSetup setup(int server) {
    return new FollowerSetup(server, group, term, config.epoch(), replica, log, peers, times);
  }

  /**
   * Servers that are no members get the log from now on, when this member leads: they are to become
   * members, and count for nothing before.
   */
  public void setLearners(Set<Integer> servers) {
    synchronized (replica) {
      learners = Set.copyOf(servers);
    }
  }

  /** Brings in those that are to learn, and none that is to learn no more. */
  private void bringInLearners() {
    if (role != Role.LEADING) {
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

  /**
   * Whether {@code server} has nearly all that this leader has, and gets the rest.
   *
   * @param lag entries that it may lack
   */
  public boolean isCaughtUp(int server, long lag) {
    synchronized (replica) {
      FollowerStream stream = role == Role.LEADING ? log.stream(server) : null;
      return stream != null
          && stream.isAdopted()
          && !stream.hasFailed()
          && stream.writtenIndex() + lag >= log.lastIndex();
    }
  }

  /** The members as this leader sees them; null when it does not lead. */
  public GroupStatus status() {
    synchronized (replica) {
      if (role != Role.LEADING) {
        return null;
      }
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
                .setReached(stream != null && stream.isAdopted() && !stream.hasFailed())
                .setWrittenIndex(stream == null ? 0 : stream.writtenIndex())
                .setProblem(stream == null ? each.getValue().lastRefusal() : ""));
      }
      return status.build();
    }
  }

  /** The server that leads the group, as far as this member knows; 0 when it knows none. */
  public int leader() {
    synchronized (replica) {
      return switch (role) {
        case LEADING -> replica.server();
        case FOLLOWER -> replica.leader();
        default -> 0;
      };
    }
  }

  /**
   * The term in which this member leads with all committed that earlier leaders have committed; 0
   * when it does not.
   */
  public long leadingTerm() {
    synchronized (replica) {
      return role == Role.LEADING && replica.isLeading(term) && log.hasBegun() ? term : 0;
    }
  }

  private void lead(long now) {
    bringInLearners();
    long refused = 0;
    for (FollowerSetup setup : setups.values()) {
      setup.tick(now);
      refused = Math.max(refused, setup.refusedTerm());
    }
    beat(now);
    if (reachesMajority()) {
      majorityNs = now;
    }
    if (refused > term || now - majorityNs > 2 * times.electionMaxNs()) {
      stepDown(); // another leads, or will: a leader that reaches no majority helps nobody
      return;
    }
    if (role == Role.OPENING && now - verifyDueNs >= 0) {
      // A frame whose bits changed here is adopted by nobody. A segment at a time takes 2 ms.
      verifyNext = replica.verify(verifyNext);
      verifyDueNs = verifyNext == 0 ? now + 2 * times.electionMaxNs() : now;
      if (replica.damage() != null) {
        stepDown();
        return;
      }
    }
    if (role == Role.OPENING && log.isAdopted()) {
      try {
        log.begin();
        role = Role.LEADING;
      } catch (TakoException e) {
        stepDown();
      }
    }
    log.advance();
    if (role == Role.LEADING && !activated && log.hasBegun()) {
      activated = true;
      catalog.activate(config.epoch());
    }
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

  /** Whether a majority has taken one of the last heartbeats. */
  private boolean reachesMajority() {
    // While the first ones are brought in, what they lack may take long.
    return hasWritten(beat - BEATS_LATE, role == Role.LEADING);
  }

  /**
   * Whether a majority has taken heartbeat {@code since} or a later one.
   *
   * @param adopted whether only members count that have this leader's log
   */
  private boolean hasWritten(long since, boolean adopted) {
    int count = 1;
    for (int server : config.members()) {
      FollowerStream stream = log.stream(server);
      if (stream != null && (stream.isAdopted() || !adopted) && stream.beatWritten() >= since) {
        count++;
      }
    }
    return 2 * count > config.members().size();
  }

  /**
   * Sends what had to wait until earlier sends were complete, and learns what has been committed.
   */
  public void pump() {
    synchronized (replica) {
      log.advance();
      if (role == Role.LEADING && wantedBeat > beat) {
        beat(clock.nanoTime());
        log.advance();
      }
    }
  }

  // ---- reading ------------------------------------------------------------------------------

  /**
   * The heartbeat that a read waits for at the leader.
   *
   * @param term in which it was asked
   * @param beat the heartbeat that a majority must take
   */
  public record ReadTicket(long term, long beat) {}

  /**
   * Begins a read of what is committed by now; null when this member does not lead. All reads that
   * wait share a round of heartbeats.
   */
  public ReadTicket beginRead() {
    synchronized (replica) {
      if (role != Role.LEADING) {
        return null;
      }
      wantedBeat = beat + 1;
      beat(clock.nanoTime());
      log.advance();
      return new ReadTicket(term, wantedBeat);
    }
  }

  /**
   * Whether the read may see the state as of {@link ReplicatedLog#commitIndex}: a majority took a
   * heartbeat that was written after the read had begun, under the grants of this term. So none of
   * them had promised a later term, and nobody else has committed anything that is missing here. An
   * entry of the term must be committed, too: only then are those of earlier terms known.
   */
  public boolean isProven(ReadTicket ticket) {
    synchronized (replica) {
      return role == Role.LEADING
          && ticket.term == term
          && replica.isLeading(term)
          && log.hasBegun()
          && hasWritten(ticket.beat, true);
    }
  }

  /**
   * Whether this member leads in {@code asked} and no other one can: a majority has taken
   * heartbeats that were about to be sent less than the lease ago, and each of them lets nobody
   * else in for longer than that. So what was read before this is asked was the newest there was.
   */
  public boolean hasLease(long asked) {
    synchronized (replica) {
      if (times.leaseNs() == 0
          || leaseReleased
          || role != Role.LEADING
          || term != asked
          || !replica.isLeading(term)
          || !log.hasBegun()) {
        return false;
      }
      long now = clock.nanoTime();
      int count = 1;
      for (int server : config.members()) {
        FollowerStream stream = log.stream(server);
        if (stream != null && stream.isAdopted() && stream.isHeld(now, times)) {
          count++;
        }
      }
      return 2 * count > config.members().size();
    }
  }

  /**
   * This leader answers no read by its lease any more, for the rest of its term, so that another
   * member need not wait for the end of it.
   *
   * @return the term; 0 when this member does not lead
   */
  public long releaseLease() {
    synchronized (replica) {
      if (role != Role.LEADING) {
        return 0;
      }
      leaseReleased = true;
      return term;
    }
  }

  /** For messages. */
  @Override
  public String toString() {
    synchronized (replica) {
      return role + " in term " + term + " with " + setups.values() + ", " + replica;
    }
  }
}
