package io.takofs.server.log;

import io.takofs.proto.AdoptLog;
import io.takofs.proto.ExtendLog;
import io.takofs.proto.GrantLog;
import io.takofs.proto.LogGrant;
import io.takofs.proto.LogPosition;
import io.takofs.proto.LogSegment;
import io.takofs.proto.Reply;
import io.takofs.proto.Request;
import io.takofs.proto.Status;
import io.takofs.server.segment.Chain;
import io.takofs.server.segment.Segment;
import io.takofs.server.segment.SegmentHeader;
import io.takofs.transport.QueuePair;

/**
 * Brings one member into the set that a leader writes to, and back whenever it fell out: a grant, a
 * connection, what the member lacks, and then its word that the leader's log is its own.
 *
 * <p>Thread rule: the holder of the replica's monitor.
 */
final class FollowerSetup {
  /** Times in a row that a member may have no slot for what it has to adopt. */
  private static final int REFUSALS_MAX = 20;

  private final int server;
  private final int group;
  private final long term;
  private final long epoch;
  private final LogReplica replica;
  private final ReplicatedLog log;
  private final LogPeers peers;
  private final LogTimes times;
  private LogTransport via; // of the present attempt
  private Step step = Step.IDLE;
  private long notBeforeNs = Long.MIN_VALUE;
  private long nowNs;
  private long requiredIndex;
  private boolean extending;
  private long refusedTerm;
  private boolean ended;
  private Chain.End lacked; // it needs a checkpoint up to here; null for none
  private int segments; // that need slots at once; 0 for one
  private Chain.End room; // a checkpoint up to here makes room for them; null with 0
  private int refusedSlots; // in a row
  private boolean notWhole; // what was written in the present attempt, as the member says
  private String lastRefusal = "";

  private enum Step {
    IDLE,
    GRANT,
    CONNECT,
    WRITE,
    ADOPT,
    ADOPTED
  }

  FollowerSetup(
      int server,
      int group,
      long term,
      long epoch,
      LogReplica replica,
      ReplicatedLog log,
      LogPeers peers,
      LogTimes times) {
    this.server = server;
    this.group = group;
    this.term = term;
    this.epoch = epoch;
    this.replica = replica;
    this.log = log;
    this.peers = peers;
    this.times = times;
  }

  /** A later term than this leader's that the member has promised; 0 for none. */
  long refusedTerm() {
    return refusedTerm;
  }

  /** The member's words when it last refused something; empty when it did not. */
  String lastRefusal() {
    return lastRefusal;
  }

  /**
   * Whether all that the member needs was written to it, and it says that it is not whole: it will
   * say so forever where bits have changed in this leader's own frames.
   */
  boolean isNotWhole() {
    return notWhole;
  }

  /**
   * All is whole here: a member that still says that what was written to it is not gets it anew,
   * because its own bits have changed.
   */
  void writeAgain() {
    if (notWhole) {
      log.detach(server);
      rest();
    }
  }

  /** The leader leads no more: answers that are late do nothing. */
  void end() {
    ended = true;
  }

  /** Does what is due. */
  void tick(long now) {
    nowNs = now;
    FollowerStream stream = log.stream(server);
    if (stream != null && stream.hasFailed()) {
      log.detach(server);
      rest();
    }
    switch (step) {
      case IDLE -> {
        if (now - notBeforeNs >= 0 || notBeforeNs == Long.MIN_VALUE) {
          askForGrant();
        }
      }
      case WRITE -> {
        extendIfWanted(stream);
        if (stream.writtenIndex() >= requiredIndex && now - notBeforeNs >= 0) {
          askToAdopt(stream);
        }
      }
      case ADOPTED -> {
        extendIfWanted(stream);
        if (!stream.counts() && now - notBeforeNs >= 0) {
          askToAdopt(stream); // whether it has a state by now
        }
      }
      default -> {} // an answer is awaited
    }
  }

  private void rest() {
    step = Step.IDLE;
    notBeforeNs = nowNs + times.retryNs();
    extending = false;
    refusedSlots = 0;
    notWhole = false;
  }

  private boolean isOver() {
    return ended || !replica.isLeading(term);
  }

  private void askForGrant() {
    via = peers.transportTo(server);
    if (via == null) {
      rest();
      return;
    }
    step = Step.GRANT;
    // A checkpoint is asked for that stays the same while it is made, or taken over.
    Chain.End committed = room == null ? replica.chain().lastEnd(log.commitIndex()) : room;
    Request request =
        Request.newBuilder()
            .setGrantLog(
                GrantLog.newBuilder()
                    .setGroup(group)
                    .setTerm(term)
                    .setLeader(replica.server())
                    .setEpoch(epoch)
                    .setTransport(via.name())
                    .setSegments(segments)
                    .setFirstIndex(lacked == null ? 0 : lacked.index() + 1)
                    .setBaseChain(lacked == null ? 0 : lacked.chain())
                    .setCommittedIndex(committed.index())
                    .setCommittedChain(committed.chain()))
            .build();
    peers.call(server, request, this::onGrant);
  }

  private void onGrant(Reply reply) {
    synchronized (replica) {
      if (isOver() || step != Step.GRANT) {
        return;
      }
      if (reply.getStatus() != Status.OK) {
        refused(reply);
        rest();
        return;
      }
      LogGrant grant = reply.getLogGrant();
      log.learn(grant.getPosition().getCommitIndex());
      long first = firstSequence(grant.getPosition());
      if (first == 0) {
        lack(replica.chain().lastEnd(0));
        return;
      }
      lacked = null;
      segments = 0;
      room = null;
      step = Step.CONNECT;
      peers.connect(server, via, term, grant.getGrant(), pair -> onConnected(grant, first, pair));
    }
  }

  private void refused(Reply reply) {
    lastRefusal = reply.getMessage();
    if (reply.getStatus() == Status.STALE_TERM) {
      refusedTerm = Math.max(refusedTerm, reply.getLogPosition().getPromisedTerm());
    }
  }

  /**
   * The sequence of the first segment that the member does not have as this leader has it, and of
   * which its checkpoint does not have all; 0 when it lacks entries that this leader has no segment
   * of any more.
   */
  private long firstSequence(LogPosition position) {
    Chain chain = replica.chain();
    SegmentHeader oldest = chain.segments().get(0).header();
    long first = 0; // after the last segment that both have, or that this leader gave up
    for (LogSegment each : position.getSegmentsList()) {
      if (SegmentDescription.isSame(chain.get(each.getSequence()), each)
          || oldest.follows(each.getSequence(), each.getLastIndex(), each.getChain())) {
        first = each.getSequence() + 1;
      }
    }
    int place = chain.placeOf(position.getCheckpointIndex() + 1);
    Segment next = place == chain.segments().size() ? chain.tail() : chain.segments().get(place);
    boolean continues = next.header().baseIndex() <= position.getCheckpointIndex() + 1;
    return continues ? Math.max(first, next.header().segmentSequence()) : first;
  }

  private void onConnected(LogGrant grant, long first, QueuePair pair) {
    synchronized (replica) {
      boolean awaited = !isOver() && step == Step.CONNECT;
      // A checkpoint may have taken the first segment meanwhile.
      if (!awaited || pair == null || replica.chain().get(first) == null) {
        if (pair != null) {
          pair.close();
        }
        if (awaited) {
          rest();
        }
        return;
      }
      requiredIndex = replica.indexToAdopt();
      log.attach(
          new FollowerStream(
              server, replica.chain(), replica::isStillWhole, via, pair, grant, first));
      step = Step.WRITE;
      notBeforeNs = nowNs;
    }
  }

  private void extendIfWanted(FollowerStream stream) {
    if (extending || !stream.wantsSlots()) {
      return;
    }
    extending = true;
    Request request =
        Request.newBuilder()
            .setExtendLog(
                ExtendLog.newBuilder()
                    .setGroup(group)
                    .setTerm(term)
                    .setGrant(stream.grant())
                    .setSlots(stream.slotCount()))
            .build();
    peers.call(server, request, reply -> onExtended(stream, reply));
  }

  private void onExtended(FollowerStream stream, Reply reply) {
    synchronized (replica) {
      if (isOver() || log.stream(server) != stream) {
        return;
      }
      extending = false;
      if (reply.getStatus() == Status.OK) {
        stream.addSlots(reply.getLogGrant().getSlotsList());
        refusedSlots = reply.getLogGrant().getSlotsCount() == 0 ? refusedSlots + 1 : 0;
      }
      int needed = stream.isAdopted() ? 0 : stream.segmentsTo(requiredIndex);
      if (refusedSlots > REFUSALS_MAX && stream.slotCount() < needed) {
        // The member is asked for all slots at once, and makes room: those that it gave are
        // useless.
        log.detach(server);
        segments = needed;
        room = replica.chain().lastEnd(log.commitIndex());
        rest();
      }
    }
  }

  /** It gets no grant before it has a checkpoint with all entries up to {@code end}. */
  private void lack(Chain.End end) {
    lacked = end;
    rest();
  }

  private void askToAdopt(FollowerStream stream) {
    step = Step.ADOPT;
    AdoptLog.Builder adopt =
        AdoptLog.newBuilder()
            .setGroup(group)
            .setTerm(term)
            .setGrant(stream.grant())
            .setEpoch(epoch)
            .setFirstSequence(stream.firstSequence())
            .setLastIndex(requiredIndex);
    for (Segment segment : replica.chain().segments()) {
      // Segments of which nothing is written there yet follow after the adoption, but the first.
      long sequence = segment.header().segmentSequence();
      if (sequence == stream.firstSequence()
          || (sequence > stream.firstSequence()
              && segment.header().baseIndex() <= stream.writtenIndex())) {
        adopt.addSegments(SegmentDescription.of(segment, null));
      }
    }
    peers.call(
        server, Request.newBuilder().setAdoptLog(adopt).build(), reply -> onAdopted(stream, reply));
  }

  private void onAdopted(FollowerStream stream, Reply reply) {
    synchronized (replica) {
      if (isOver() || log.stream(server) != stream || step != Step.ADOPT) {
        return;
      }
      if (reply.getStatus() == Status.OK) {
        stream.setAdopted();
        step = Step.ADOPTED;
        notWhole = false;
        lastRefusal = "";
        if (reply.getLogPosition().getHasState()) {
          stream.setStateful();
        } else {
          lastRefusal = "member " + server + " has no state yet, and counts for nothing";
          notBeforeNs = nowNs + times.retryNs();
        }
      } else if (reply.getStatus() == Status.BUSY || reply.getStatus() == Status.UNAVAILABLE) {
        step = Step.WRITE;
        notBeforeNs = nowNs + times.retryNs();
        notWhole = reply.getStatus() == Status.BUSY;
      } else {
        refused(reply);
        log.detach(server);
        rest();
      }
    }
  }

  /** For messages. */
  @Override
  public String toString() {
    return server + ": " + step + (lastRefusal.isEmpty() ? "" : " (" + lastRefusal + ")");
  }
}
