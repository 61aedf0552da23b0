package io.takofs.server.log;

import io.takofs.base.Clock;
import io.takofs.base.TakoException;
import io.takofs.proto.AskLog;
import io.takofs.proto.GrantLog;
import io.takofs.proto.GroupStatus;
import io.takofs.proto.LogGrant;
import io.takofs.proto.LogPosition;
import io.takofs.proto.Reply;
import io.takofs.proto.Request;
import io.takofs.proto.Status;
import io.takofs.transport.CompletionStatus;
import io.takofs.transport.Opcode;
import io.takofs.transport.QueuePair;
import java.io.UncheckedIOException;
import java.util.Random;
import java.util.Set;

/**
 * One member of a group: it follows its leader until it misses it ({@link LeaderWatch}), stands for
 * election ({@link Election}), brings a majority to have its log, and leads ({@link LeaderRole}).
 *
 * <p>Thread rule: any thread; all holds the replica's monitor.
 */
public final class LogMember {
  private static final int COMPLETIONS_AT_ONCE = 64;

  private final LogReplica replica;
  private final ReplicatedLog log;
  private final GroupCatalog catalog;
  private final LogTimes times;
  private final Clock clock;
  private final LeaderWatch watch;
  private final ReadHold hold;
  private final Election election;
  private final LeaderRole leading;
  private boolean able = true; // to lead: there is a state

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
    this.replica = replica;
    this.log = log;
    this.catalog = catalog;
    this.times = times;
    this.clock = clock;
    watch = new LeaderWatch(replica, catalog, times, random, clock.nanoTime());
    hold = new ReadHold(replica, times.holdNs(), clock);
    election = new Election(group, replica, peers, times, clock, watch, hold, new OfElection());
    leading = new LeaderRole(group, replica, log, peers, catalog, times, clock);
  }

  /** The part that this member plays now. */
  public Role role() {
    synchronized (replica) {
      return leading.isOpen() ? leading.leads() ? Role.LEADING : Role.OPENING : election.role();
    }
  }

  /** The term in which this member leads, or stands for election; else 0. */
  public long term() {
    synchronized (replica) {
      return role() == Role.FOLLOWER ? 0 : election.term();
    }
  }

  /**
   * The entries that those that promised lacked when the last election was lost; empty when they
   * lacked none, or a leader was known since.
   */
  public String shortage() {
    synchronized (replica) {
      return election.shortage();
    }
  }

  /** The configuration that this member acts on as a candidate or a leader. */
  public GroupConfig config() {
    synchronized (replica) {
      return election.config();
    }
  }

  /**
   * The number of this member is known from now on. It has heard of no leader since it started, and
   * lets those stand first that have followed the last one.
   */
  public void joined(int server) {
    synchronized (replica) {
      replica.joined(server);
      watch.leaveToOthers(clock.nanoTime());
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
            LogPosition position = hold.promise(request.getPrepareLog());
            hear();
            yield ok(position);
          }
          case GRANT_LOG -> {
            LogGrant grant = granted(request.getGrantLog());
            hearCall();
            yield Reply.newBuilder()
                .setLogGrant(grant.toBuilder().setHoldNs(times.holdNs()))
                .build();
          }
          case ADOPT_LOG -> {
            LogPosition position = replica.adopt(request.getAdoptLog());
            hear();
            yield ok(position.toBuilder().setHasState(able).build());
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

  /** A leader that cannot bring this member in now is a leader all the same. */
  private LogGrant granted(GrantLog request) throws TakoException {
    try {
      return replica.grant(request);
    } catch (TakoException e) {
      if (e.status() == Status.BUSY || e.status() == Status.NO_SPACE) {
        hearCall();
      }
      throw e;
    }
  }

  private static Reply ok(LogPosition position) {
    return Reply.newBuilder().setLogPosition(position).build();
  }

  private LogPosition answer(AskLog request) {
    boolean misses =
        switch (role()) {
          case READING, OPENING, LEADING -> false;
          case FOLLOWER -> isMissing(clock.nanoTime());
          case ASKING -> !isBack(clock.nanoTime());
          case PREPARING -> true;
        };
    misses &= request.getEpoch() >= replica.epoch() && request.getTerm() > replica.promisedTerm();
    misses &=
        !GroupConfig.isCopiedBefore(
            replica.epoch(), request.getEpoch(), request.getCopiedEpochsList());
    misses &= replica.damage() == null; // it would promise nothing
    if (misses) {
      giveWayTo(request.getCandidate());
    }
    return LogPosition.newBuilder()
        .setPromisedTerm(replica.promisedTerm())
        .setEpoch(replica.epoch())
        .setAcceptedTerm(replica.acceptedTerm())
        .setLastIndex(replica.lastIndex())
        .setMissesLeader(misses)
        .build();
  }

  private boolean isMissing(long now) {
    watch.lookAgain(now);
    return watch.isMissing(now);
  }

  /**
   * Whether the leader that others are asked about has shown itself: then they are not any more.
   */
  private boolean isBack(long now) {
    boolean back = watch.lookAgain(now);
    if (back) {
      stepDown();
    }
    return back;
  }

  /** Another member is about to stand: two that do so at once split the promises. */
  private void giveWayTo(int candidate) {
    if (role() == Role.ASKING && watch.turnOf(candidate) < watch.turnOf(replica.server())) {
      stepDown();
    }
    if (role() == Role.FOLLOWER) {
      watch.giveWay(clock.nanoTime());
    }
  }

  /** Somebody who may lead has shown himself. */
  private void hear() {
    watch.heard();
    standBack();
  }

  /** A leader wants to bring this member in, and has no connection yet whose end would be seen. */
  private void hearCall() {
    watch.called();
    standBack();
  }

  private void standBack() {
    if (role() == Role.ASKING || (role() != Role.FOLLOWER && !holdsTerm())) {
      stepDown(); // what this one wanted to ask for is there
    }
    if (role() == Role.FOLLOWER) {
      watch.await(clock.nanoTime());
    }
  }

  /** Whether this member's promise is still its own. */
  private boolean holdsTerm() {
    return role() == Role.ASKING || replica.standsIn(election.term());
  }

  // ---- what is due --------------------------------------------------------------------------

  /** Does what is due; to be called several times in a heartbeat's time. */
  public void tick() {
    synchronized (replica) {
      long now = clock.nanoTime();
      replica.poll();
      log.advance();
      replica.endBroken();
      hold.look();
      if (role() != Role.FOLLOWER && (!holdsTerm() || replica.damage() != null)) {
        stepDown();
      }
      switch (role()) {
        case FOLLOWER -> follow(now);
        case ASKING -> askOn(now);
        case PREPARING, READING -> election.tick(now);
        case OPENING, LEADING -> lead(now);
      }
      if (leader() != 0) {
        election.forgetShortage();
      }
      if (leading.leads() || (role() == Role.FOLLOWER && watch.missed() == 0)) {
        replica.tidy();
      }
    }
  }

  /** Nanoseconds after which the next {@link #tick} is due, if nothing comes before; above 0. */
  public long pauseNs() {
    synchronized (replica) {
      long now = clock.nanoTime();
      long pauseNs = times.heartbeatNs() / 2;
      if (!leading.isOpen()) {
        pauseNs = sooner(pauseNs, watch.pauseNs(now));
      }
      return sooner(pauseNs, election.pauseNs(now, pauseNs));
    }
  }

  /** A thing that is overdue at the end of a tick waits for something else than time. */
  private static long sooner(long pauseNs, long leftNs) {
    return leftNs <= 0 ? pauseNs : Math.min(pauseNs, leftNs);
  }

  private void follow(long now) {
    replica
        .transports()
        .poll(LogMember::ignore, COMPLETIONS_AT_ONCE); // of connections that have ended
    watch.look(now);
    if (watch.isDue(now) && replica.damage() == null) {
      ask(now);
    }
  }

  private void askOn(long now) {
    if (watch.look(now)) {
      stepDown();
    } else if (watch.isInTurn()) {
      election.end(); // begun when less was known of the leader: the others may miss it now
      follow(now);
    } else {
      election.tick(now);
    }
  }

  private static void ignore(
      QueuePair pair, long id, Opcode opcode, CompletionStatus status, int bytes, int immediate) {
    // Nobody waits for it any more.
  }

  /** Follows again whoever leads, and waits for him. */
  private void stepDown() {
    leading.end();
    election.end();
    watch.await(clock.nanoTime());
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
   * @return false when it cannot lead, as far as it knows: then another one is to be asked
   */
  public boolean stand(long released) {
    synchronized (replica) {
      GroupConfig read = catalog.read();
      if (!able || replica.damage() != null || !mayLeadIn(read)) {
        return false;
      }
      boolean leadsInAnother = leading.leads() && read.epoch() != election.config().epoch();
      if (leadsInAnother) {
        stepDown();
      }
      if (role() == Role.FOLLOWER || role() == Role.ASKING) {
        election.prepare(read, released, clock.nanoTime());
      }
      return true;
    }
  }

  /** Whether this member may lead in a configuration, as far as it knows. */
  private boolean mayLeadIn(GroupConfig read) {
    return read.members().contains(replica.server())
        && read.epoch() >= replica.epoch()
        && !read.isCopiedBefore(replica.epoch());
  }

  /**
   * Stands for no election from now on, since there is no state with which this server could lead.
   * It follows and votes as before: a vote says what is in the log, which is whole. What a leader
   * writes to it counts for nothing before there is a state, since a log alone is no copy of what
   * was committed before it.
   *
   * @return false when this member leads, or begins to; then nothing has changed
   */
  public boolean setUnable() {
    synchronized (replica) {
      if (leading.isOpen() || election.role() == Role.READING) {
        return false;
      }
      if (role() != Role.FOLLOWER) {
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

  /** One that may not stand misses the leader all the same, and says so to those that may. */
  private void ask(long now) {
    GroupConfig read = able ? catalog.read() : null;
    if (read != null && mayLeadIn(read)) {
      election.ask(read, now);
    } else {
      watch.leaveToOthers(now);
    }
  }

  private final class OfElection implements Election.Outcome {
    @Override
    public void won(long now) {
      open(now);
    }

    @Override
    public void lost() {
      stepDown();
    }
  }

  // ---- leading ------------------------------------------------------------------------------

  private void open(long now) {
    try {
      leading.open(election.config(), election.term(), now);
      log.learn(election.committedIndex());
    } catch (TakoException e) {
      stepDown();
      return;
    }
    watch.heard();
    lead(now);
  }

  private void lead(long now) {
    if (!leading.tick(now)) {
      stepDown();
    }
  }

  /**
   * Servers that are no members get the log from now on, when this member leads: they are to become
   * members, and count for nothing before.
   */
  public void setLearners(Set<Integer> servers) {
    synchronized (replica) {
      leading.setLearners(servers);
    }
  }

  /**
   * Whether {@code server} has nearly all that this leader has, and gets the rest.
   *
   * @param lag entries that it may lack
   */
  public boolean isCaughtUp(int server, long lag) {
    synchronized (replica) {
      return leading.isCaughtUp(server, lag);
    }
  }

  /** The members as this leader sees them; null when it does not lead. */
  public GroupStatus status() {
    synchronized (replica) {
      return leading.leads() ? leading.status() : null;
    }
  }

  /** The server that leads the group, as far as this member knows; 0 when it knows none. */
  public int leader() {
    synchronized (replica) {
      return switch (role()) {
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
      return leading.hasBegun(election.term()) ? election.term() : 0;
    }
  }

  /**
   * Sends what had to wait until earlier sends were complete, and learns what has been committed.
   */
  public void pump() {
    synchronized (replica) {
      leading.pump();
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
      return leading.leads() ? new ReadTicket(election.term(), leading.beginRead()) : null;
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
      return leading.isProven(ticket.term, ticket.beat);
    }
  }

  /**
   * Whether this member leads in {@code asked} and no other one can: a majority has taken
   * heartbeats that were about to be sent less than the lease ago, and each of them lets nobody
   * else in for longer than that. So what was read before this is asked was the newest there was.
   */
  public boolean hasLease(long asked) {
    synchronized (replica) {
      return leading.hasLease(asked);
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
      if (!leading.leads()) {
        return 0;
      }
      leading.releaseLease();
      return election.term();
    }
  }

  /** For messages. */
  @Override
  public String toString() {
    synchronized (replica) {
      return role() + " in term " + election.term() + " with " + leading + ", " + replica;
    }
  }
}
