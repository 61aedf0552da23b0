package io.takofs.server.log;

import io.takofs.base.Invariant;
import io.takofs.base.TakoException;
import io.takofs.layout.Layout;
import io.takofs.proto.AdoptLog;
import io.takofs.proto.ExtendLog;
import io.takofs.proto.GrantLog;
import io.takofs.proto.LogGrant;
import io.takofs.proto.LogPosition;
import io.takofs.proto.LogSegment;
import io.takofs.proto.LogSlot;
import io.takofs.proto.PrepareLog;
import io.takofs.proto.Status;
import io.takofs.server.peer.Terms;
import io.takofs.server.segment.Chain;
import io.takofs.server.segment.Crc32cScratch;
import io.takofs.server.segment.FrameCodec;
import io.takofs.server.segment.LogIdentity;
import io.takofs.server.segment.LogZone;
import io.takofs.server.segment.Segment;
import io.takofs.server.segment.SegmentHeader;
import io.takofs.server.segment.SegmentScanner;
import io.takofs.server.segment.SlotPool;
import io.takofs.transport.MemoryRegion;
import io.takofs.transport.QueuePair;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;

/**
 * One member's copy of a group's log. A leader writes to it one-sided, into slots that it was
 * granted; the member's processor only looks. What it must never do is here: let an earlier leader
 * in after a promise to a later one, say what it has before nobody can add to that, and call a log
 * its own before it is whole.
 *
 * <p>The order of {@link #prepare} is what makes a change of leaders safe, with any transport:
 * refuse, make the promise persistent, revoke, look at (a copy of) what is there, close it, answer.
 *
 * <p>Thread rule: any thread; each call holds the replica's monitor, and waits for nothing but its
 * memory.
 */
public class LogReplica {
  private final LogZone zone;
  private final LogTransports transports;
  private final LogIdentity identity;
  private final Crc32cScratch crc = new Crc32cScratch();
  private final SegmentScanner scanner;
  private final FrameCodec codec;
  private final BooleanSupplier writersAreGone;
  private ReplicaStorage storage;
  private SlotPool pool;
  private Chain chain;
  private final HeartbeatRecord heartbeat = new HeartbeatRecord(crc);
  private final KeptPromise promise;
  private Intake intake; // null when nobody may write here
  private long leadingTerm; // 0: this member does not lead
  private long commitIndex;
  private long checkpointIndex;
  private long missingIndex; // entries up to here are to come by a checkpoint; 0 for none
  private long wantedIndex; // a checkpoint of this member should have all up to here
  private boolean heard;
  private TakoException damage;

  /**
   * As {@link #open}.
   *
   * @param codec which tests replace by a weaker one
   */
  LogReplica(
      int server,
      LogZone zone,
      LogTransports transports,
      LogIdentity identity,
      long checkpointIndex,
      BooleanSupplier writersAreGone,
      FrameCodec codec)
      throws TakoException {
    this(server, zone, transports, identity, writersAreGone, codec);
    this.checkpointIndex = checkpointIndex;
    recover();
  }

  private LogReplica(
      int server,
      LogZone zone,
      LogTransports transports,
      LogIdentity identity,
      BooleanSupplier writersAreGone,
      FrameCodec codec) {
    this.zone = zone;
    this.transports = transports;
    this.identity = identity;
    this.codec = codec;
    this.writersAreGone = writersAreGone;
    this.scanner = new SegmentScanner(crc, codec);
    this.promise = new KeptPromise(server, zone, identity.logId(), crc);
  }

  private void recover() throws TakoException {
    ReplicaRecovery recovery = ReplicaRecovery.run(zone, identity, crc, scanner, writersAreGone);
    take(recovery.pool(), recovery.chain(), recovery.promise());
  }

  private void take(SlotPool newPool, Chain newChain, Promise newPromise) {
    pool = newPool;
    chain = newChain;
    storage = new ReplicaStorage(zone, identity, codec, crc, scanner, pool, chain);
    promise.found(newPromise);
    commitIndex = chain.commitIndex();
  }

  /**
   * Opens the log in {@code zone}; a zone of zeros becomes an empty one.
   *
   * @param server number of this member; 0 when {@link #joined} will tell
   * @param checkpointIndex entries up to here are in a checkpoint
   * @param writersAreGone whether no leader that an earlier process let in can still store to the
   *     zone; asked again until it is true, which it stays. Nothing that they store counts at them
   *     any more when this is called: the transport has seen to that
   * @throws TakoException CORRUPT when what the member has promised, or what it had acknowledged,
   *     cannot be read; BUSY when former leaders may still store and too few slots are free to copy
   *     what they reach: to be opened again later
   */
  public static LogReplica open(
      int server,
      LogZone zone,
      LogTransports transports,
      LogIdentity identity,
      long checkpointIndex,
      BooleanSupplier writersAreGone)
      throws TakoException {
    return new LogReplica(
        server, zone, transports, identity, checkpointIndex, writersAreGone, new FrameCodec());
  }

  /**
   * The log in a zone that is damaged, or beside a state that is: nothing is read from it or
   * written to it. It promises nothing, lets nobody in and counts nowhere, until {@link #renew}.
   *
   * @param writersAreGone as of {@link #open}
   * @param damage CORRUPT, with what and where
   */
  public static LogReplica openDamaged(
      LogZone zone,
      LogTransports transports,
      LogIdentity identity,
      BooleanSupplier writersAreGone,
      TakoException damage) {
    LogReplica replica =
        new LogReplica(0, zone, transports, identity, writersAreGone, new FrameCodec());
    SegmentHeader[] headers = new SegmentHeader[zone.slotCount()];
    replica.take(new SlotPool(zone, identity, headers, replica.crc), new Chain(), Promise.NONE);
    replica.damage = damage;
    return replica;
  }

  /**
   * Begins anew with an empty log, because what was here is damaged: as a server that has never
   * been a member. What this one has promised is forgotten, so it may count nowhere before a
   * configuration later than {@code epoch} has it; the caller knows that {@code epoch} is active
   * and does not have it, and that no later one can before it says that it is whole.
   *
   * <p>Until all is done the promise is unreadable: a crash finds a damaged member again.
   *
   * @param epoch of the configuration; callers with an earlier one are refused
   * @param andState has an empty state replace the one beside the log
   * @return false when a former leader may still store to the memory: to be asked again
   * @throws TakoException that {@code andState} throws; the member stays damaged
   */
  public synchronized boolean renew(long epoch, Renewal andState) throws TakoException {
    Invariant.check(damage != null && leadingTerm == 0, "only a damaged member begins anew");
    if (intake != null) {
      if (!intake.revokeAndClose()) {
        return false;
      }
      intake = null;
    }
    pool.poll();
    if (pool.isResting() || !writersAreGone.getAsBoolean()) {
      return false;
    }
    promise.destroy();
    for (int slot = 0; slot < zone.slotCount(); slot++) {
      zone.zeroHeader(slot);
    }
    andState.run();
    // Earlier incarnations gave grants whose connections may still be asked for.
    promise.beginAnew(epoch, (long) identity.incarnation() << Integer.SIZE);
    checkpointIndex = 0;
    missingIndex = 0;
    wantedIndex = 0;
    recover();
    damage = null;
    return true;
  }

  /** Replaces what is beside the log. */
  @FunctionalInterface
  public interface Renewal {
    /** Returns when it is durable. */
    void run() throws TakoException;
  }

  /** Number of this member; 0 until it is known, and nobody may ask before. */
  public synchronized int server() {
    return promise.server();
  }

  /** The number of this member is known from now on. */
  public synchronized void joined(int number) {
    promise.joined(number);
  }

  // ---- what is so ---------------------------------------------------------------------------

  /** No leader of an earlier term is let in. */
  public synchronized long promisedTerm() {
    return promise.term();
  }

  /** The member to which the highest term was promised. */
  public synchronized int promisedTo() {
    return promise.candidate();
  }

  /** The leader whose log this member has, and who may write to it; 0 for none. */
  synchronized int leader() {
    boolean stands =
        intake != null && intake.isAdopted() && !intake.isEnding() && !intake.isSevered();
    return stands ? promise.candidate() : 0;
  }

  /** Whether this member has promised {@code term} to itself, and has let nobody else in. */
  synchronized boolean standsIn(long term) {
    return promise.isOwn(term);
  }

  /** Highest epoch of a configuration that was acted on here. */
  public synchronized long epoch() {
    return promise.epoch();
  }

  /** Term of the leader whose log this member has. */
  public synchronized long acceptedTerm() {
    return promise.acceptedTerm();
  }

  /** Term of the last entry here; 0 for none. */
  synchronized long lastTerm() {
    return chain.lastTerm();
  }

  /** Index of the last entry that is known to be whole here. */
  public synchronized long lastIndex() {
    return chain.lastIndex();
  }

  /**
   * A member has adopted this leader's log when it has all up to here: also what was counted there
   * under an earlier grant, which the new one replaces.
   */
  synchronized long indexToAdopt() {
    return chain.lastIndex();
  }

  /** Highest index that is known here to be committed, and is there. */
  public synchronized long commitIndex() {
    return Math.min(commitIndex, chain.lastIndex());
  }

  /** Highest index that is known here to be committed, be it in this log or not. */
  private long knownCommitted() {
    long kept = Math.max(checkpointIndex, promise.committed());
    return Math.max(Math.max(commitIndex, trimmedIndex()), kept);
  }

  /** Why the member's memory cannot be trusted any more; null when it can. */
  public synchronized TakoException damage() {
    return damage;
  }

  /** The member's copy, for those who hold its monitor. */
  Chain chain() {
    return chain;
  }

  LogZone zone() {
    return zone;
  }

  LogTransports transports() {
    return transports;
  }

  int freeSlots() {
    return pool.freeCount();
  }

  /** Whether a checkpoint should take segments. */
  boolean isShort() {
    return storage.isShort();
  }

  /** Whether so few segments are left that members which lag are not waited for. */
  boolean isScarce() {
    return storage.isScarce();
  }

  /**
   * The end of this member's log, and its segments.
   *
   * @param via the transport over which they can be read; null for none
   */
  synchronized LogPosition position(LogTransport via) {
    LogPosition.Builder position =
        LogPosition.newBuilder()
            .setPromisedTerm(promise.term())
            .setEpoch(promise.epoch())
            .setAcceptedTerm(promise.acceptedTerm())
            .setLastIndex(chain.lastIndex())
            .setCommitIndex(knownCommitted())
            .setCountedIndex(promise.counted())
            .setCheckpointIndex(checkpointIndex);
    for (Segment segment : chain.segments()) {
      position.addSegments(SegmentDescription.of(segment, via));
    }
    return position.build();
  }

  // ---- promises -----------------------------------------------------------------------------

  /**
   * Promises to let no leader of an earlier term than the request's in, and says what this member
   * has. Asked again by the same candidate, it answers again.
   *
   * @throws TakoException STALE_TERM when this term or a later one is promised to another, or its
   *     leader is let in already; STALE_VERSION when a later configuration was acted on; CORRUPT
   */
  public synchronized LogPosition prepare(PrepareLog request) throws TakoException {
    checkSound();
    checkEpoch(request.getEpoch());
    promise.checkCopy(request);
    boolean again =
        request.getTerm() == promise.term()
            && request.getCandidate() == promise.candidate()
            && (intake == null || intake.term() < promise.term())
            && promise.acceptedTerm() < promise.term();
    if (request.getTerm() <= promise.term() && !again) {
      throw promise.stale(request.getTerm());
    }
    look(); // what is lost is kept first: what follows may fail, or end here
    promise.make(request.getTerm(), request.getCandidate(), request.getEpoch());
    endWriting();
    return position(transports.find(request.getTransport()));
  }

  /**
   * Ends what a leader may write here: afterwards this member's log changes no more by itself. When
   * the transport cannot promise at once that nothing lands any more, what may still change is
   * copied to where the former leader does not reach; what it counts as written is in the copy.
   */
  private void endWriting() throws TakoException {
    if (leadingTerm != 0) {
      leadingTerm = 0;
      storage.closeTail();
    }
    if (intake == null) {
      return;
    }
    Intake ending = intake; // until all is done: a part of it may have to be done again
    boolean ended = ending.revoke();
    readHeartbeat(); // one that came since the last look is the last: later ones do not count
    List<Integer> left = ending.copied();
    if (!ending.isAdopted()) {
      left.addAll(ending.slots());
    } else {
      if (!ended && !storage.hasRoomForCopies(ending)) {
        keepKnown(0, heartbeat.countedIndex()); // it may be lost, and nobody looks before the end
        throw new TakoException(
            Status.BUSY,
            "member " + server() + " waits until a former leader has left its memory; ask again");
      }
      if (!ended) {
        left.add(storage.isolateTail());
      }
      scan(ending, !ended, left);
      checkSound();
      keepKnown(storage.committedBeyond(ending), heartbeat.countedIndex());
      storage.closeTail();
      left.addAll(ending.unusedSlots());
    }
    intake = null;
    pool.rest(left, ending::revokeAndClose);
  }

  /**
   * Keeps what is known of entries that this member does not have.
   *
   * @param named entries up to here are committed, as frames say that came
   * @param counted entries up to here may be: the leader counts them as written here
   */
  private void keepKnown(long named, long counted) {
    promise.know(Math.max(named, knownCommitted()), counted, chain.lastIndex());
  }

  /** Takes in what is whole, and what it says of commits. */
  private void scan(Intake from, boolean isolate, List<Integer> left) {
    String wrong = storage.scan(from, isolate, left);
    if (wrong.isEmpty()) {
      commitIndex = Math.max(commitIndex, chain.commitIndex());
    } else {
      damaged(wrong);
    }
  }

  // ---- what a leader writes -----------------------------------------------------------------

  /**
   * Gives the leader slots for a new connection. An earlier grant ends; what came under it stays.
   * The leader of the promised term may be another than the candidate that the promise was made to:
   * a majority has promised the term to the leader, so that nobody else leads in it.
   *
   * @throws TakoException as of {@link #prepare}; NO_SPACE when too few slots are free; BUSY when a
   *     checkpoint has to come first; UNAVAILABLE when this member has no such transport
   */
  public synchronized LogGrant grant(GrantLog request) throws TakoException {
    checkSound();
    checkEpoch(request.getEpoch());
    if (request.getTerm() < promise.term()
        || isLeading(request.getTerm())
        || request.getLeader() == server()) {
      throw promise.stale(request.getTerm());
    }
    checkNamespace(request.getTerm());
    LogTransport via = transports.find(request.getTransport());
    if (via == null) {
      throw new TakoException(
          Status.UNAVAILABLE,
          "member " + server() + " has no transport '" + request.getTransport() + "'");
    }
    look(); // what is lost is kept first: what follows may fail, or end here
    promise.make(request.getTerm(), request.getLeader(), request.getEpoch());
    endWriting();
    if (request.getFirstIndex() > checkpointIndex + 1) {
      throw lack(request.getFirstIndex() - 1, request.getBaseChain());
    }
    pool.poll();
    // With the checkpoint that was asked for it may need fewer.
    boolean made = checkpointIndex >= request.getCommittedIndex();
    int count = made ? 1 : Math.max(1, request.getSegments());
    if (!storage.canOffer(count)) {
      throw lackRoom(count, request.getCommittedIndex(), request.getCommittedChain());
    }
    List<Integer> slots = new ArrayList<>();
    promise.grantNext();
    intake =
        new Intake(promise.grant(), request.getTerm(), request.getLeader(), via.memory(), slots);
    storage.offerSlots(intake, Math.max(count, 1 + ReplicaStorage.SLOTS_AHEAD));
    heartbeat.begin(via.memory().heartbeat().buffer());
    return describeGrant(0).setPosition(position(via)).build();
  }

  private LogGrant.Builder describeGrant(int from) {
    LogMemory memory = intake.memory();
    LogGrant.Builder grant =
        LogGrant.newBuilder()
            .setGrant(intake.number())
            .setHeartbeatAddress(memory.heartbeat().address())
            .setHeartbeatRkey(memory.heartbeat().rkey());
    for (int slot : intake.slots().subList(from, intake.slots().size())) {
      MemoryRegion region = memory.slots().get(slot);
      grant.addSlots(LogSlot.newBuilder().setAddress(region.address()).setRkey(region.rkey()));
    }
    return grant;
  }

  /**
   * Gives the leader slots for the segments that follow under its grant.
   *
   * @throws TakoException STALE_TERM when the grant has ended
   */
  public synchronized LogGrant extend(ExtendLog request) throws TakoException {
    scan();
    checkSound();
    checkGrant(request.getTerm(), request.getGrant());
    pool.poll();
    int has = request.getSlots();
    if (has == intake.slots().size()) {
      int ahead = intake.unusedSlots().size();
      storage.offerSlots(intake, Math.max(1, ReplicaStorage.SLOTS_AHEAD - ahead));
    }
    return describeGrant(Math.min(has, intake.slots().size())).build();
  }

  /**
   * Makes what the leader wrote the newest part of this member's log, instead of whatever was
   * there; once.
   *
   * @throws TakoException BUSY when it is not whole, or not yet; STALE_TERM when the grant has
   *     ended
   */
  public synchronized LogPosition adopt(AdoptLog request) throws TakoException {
    checkSound();
    checkEpoch(request.getEpoch());
    checkGrant(request.getTerm(), request.getGrant());
    if (!intake.isAdopted()) {
      List<SegmentHeader> planned =
          storage.planned(request.getSegmentsList(), intake.slots(), intake.number());
      if (planned.isEmpty() || planned.get(0).segmentSequence() != request.getFirstSequence()) {
        throw new TakoException(
            Status.INVALID_ARGUMENT, "the segments are not those that the leader began with");
      }
      boolean all = storage.replacesAll(planned.get(0), checkpointIndex);
      if (!storage.arrive(intake, planned, all)
          || lastOf(intake.arrived()).lastIndex() < request.getLastIndex()) {
        throw new TakoException(
            Status.BUSY, "the leader's log has not arrived at member " + server() + " yet");
      }
      switchTo(intake.arrived(), all, request.getEpoch());
      intake.adopt();
      storage.numberUnused(intake);
      scan(); // a heartbeat that came before this speaks of what is the member's log now
    }
    return position(null);
  }

  private static Segment lastOf(List<Segment> segments) {
    return segments.get(segments.size() - 1);
  }

  /** Switches to the leader's log: the promise, written in one piece, is the moment. */
  private void switchTo(List<Segment> segments, boolean all, long epoch) {
    storage.prepare(segments);
    promise.adopt(segments.get(0).header().segmentSequence(), all, epoch);
    storage.replace(segments, all);
    missingIndex = 0;
    // The leader has all that is committed: an index beyond its log cannot be one of this log.
    commitIndex =
        Math.max(Math.min(commitIndex, lastOf(segments).lastIndex()), chain.commitIndex());
  }

  /** Looks at what has come since the last time, and at the heartbeat. */
  public synchronized void scan() {
    heard |= look();
  }

  /**
   * Takes in what has come, and keeps what the heartbeat counts here and is lost; returns whether
   * there is a new heartbeat.
   */
  private boolean look() {
    if (intake == null || intake.isEnding() || damage != null) {
      return false;
    }
    scanAdopted();
    boolean news = readHeartbeat();
    if (lacksCounted()) {
      scanAdopted(); // what the heartbeat counts came before it, but maybe after the last look
      if (lacksCounted()) {
        intake.setBroken();
        keepKnown(0, heartbeat.countedIndex());
      }
    }
    return news;
  }

  private void scanAdopted() {
    if (intake.isAdopted()) {
      scan(intake, false, new ArrayList<>());
    }
  }

  private boolean lacksCounted() {
    return intake.isAdopted() && chain.lastIndex() < heartbeat.countedIndex();
  }

  /**
   * Ends the grant when a frame was found that is not whole: the leader writes it again under the
   * next one. To be called again and again, as a part of it may have to be done again.
   */
  synchronized void endBroken() {
    if (intake == null || !intake.isBroken() || damage != null) {
      return;
    }
    try {
      endWriting();
    } catch (TakoException | UncheckedIOException e) {
      // A part of it has to be done again: it is broken still.
    }
  }

  /** Whether the leader has shown itself since the last time this was asked. */
  synchronized boolean hasHeard() {
    boolean since = heard;
    heard = false;
    return since;
  }

  /** Heartbeats that were seen here: it grows when there was a new one. */
  synchronized long beats() {
    return heartbeat.count();
  }

  /** Whether the last of them was of the leader of {@code term}, or of {@code server}. */
  synchronized boolean wasBeatOf(long term, int server) {
    return heartbeat.wasOf(term, server);
  }

  private boolean readHeartbeat() {
    boolean news = heartbeat.look(intake);
    if (intake.isAdopted()) { // else the indexes say nothing of this member's log
      commitIndex = Math.max(commitIndex, heartbeat.commitIndex());
    }
    return news;
  }

  /**
   * Whether a frame that was whole still is; the member is damaged when it is not. For those who
   * hold its monitor.
   */
  boolean isStillWhole(Segment segment, int offset, long index) {
    String wrong = segment.check(scanner, offset, index);
    if (wrong != null && damage == null) {
      damaged(wrong);
    }
    return wrong == null;
  }

  /**
   * Looks again at all frames of the first segment from {@code sequence} on; this member is damaged
   * when one is not whole any more.
   *
   * @return the sequence to go on with; 0 after the last one
   */
  synchronized long verify(long sequence) {
    for (Segment segment : chain.segments()) {
      if (segment.header().segmentSequence() >= sequence) {
        int offset = Layout.SEGMENT_DATA_OFFSET;
        long index = segment.header().baseIndex();
        while (index <= segment.lastIndex() && isStillWhole(segment, offset, index)) {
          offset = segment.next(offset);
          index++;
        }
        return segment == chain.tail() ? 0 : segment.header().segmentSequence() + 1;
      }
    }
    return 0;
  }

  private void damaged(String why) {
    damage =
        new TakoException(
            Status.CORRUPT,
            "the log of member " + server() + " is damaged: " + why + "; replace the member");
    leadingTerm = 0;
    if (intake != null) {
      intake.revoke(); // what it acknowledges would count
    }
  }

  // ---- connections --------------------------------------------------------------------------

  /** Whether a leader that connects under {@code grant} in {@code term} is let in. */
  public synchronized boolean admits(long term, long grant) {
    return damage == null
        && (grant == 0
            ? term == promise.term() && intake == null && leadingTerm == 0
            : isCurrent(term, grant));
  }

  /** The connection stands: the leader may write, unless it was too late. */
  public synchronized void connected(long term, long grant, QueuePair pair) {
    if (grant != 0) {
      if (admits(term, grant)) {
        intake.add(pair);
      } else {
        pair.close();
      }
    }
  }

  /** The connection has ended by itself; one that wrote is asked when nothing lands any more. */
  public synchronized void disconnected(QueuePair pair) {
    if (intake == null || !intake.has(pair)) {
      pair.close();
    } else {
      intake.ended(pair);
    }
  }

  /** Whether the leader's connection has ended by itself: it died, or will connect again. */
  synchronized boolean isSevered() {
    return intake != null && intake.isSevered();
  }

  // ---- leading ------------------------------------------------------------------------------

  /**
   * Makes this member's log that of the leader of {@code term}, itself.
   *
   * @throws TakoException STALE_TERM when it has promised a later term meanwhile
   */
  synchronized void lead(long term) throws TakoException {
    checkSound();
    if (!promise.isOwn(term) || intake != null) {
      throw promise.stale(term);
    }
    if (!storage.canOpen()) {
      throw ReplicaStorage.full();
    }
    promise.adoptOwn(chain.nextSequence());
    leadingTerm = term;
    missingIndex = 0; // the best log of a majority lacks nothing
    storage.open(term, promise.adoptedGrant(), checkpointIndex);
  }

  /** Whether another member may write here. */
  synchronized boolean isGranted() {
    return intake != null;
  }

  /** Whether this member still lets the leader of {@code term}, itself, write. */
  synchronized boolean isLeading(long term) {
    return leadingTerm == term && promise.term() == term;
  }

  /**
   * Appends one frame to this member's own log; returns its index. It counts as written here
   * because no promise can come between this look at the promise and the store.
   *
   * @throws TakoException NOT_LEADER when this member has promised a later term; NO_SPACE
   */
  synchronized long append(long term, byte type, long committed, ByteBuffer payload)
      throws TakoException {
    if (!isLeading(term)) {
      throw new TakoException(
          Status.NOT_LEADER, "member " + server() + " does not lead in term " + term + " any more");
    }
    return storage.append(term, promise.adoptedGrant(), type, committed, payload);
  }

  /** The leader, this member, has learned what is committed. */
  synchronized void learnCommitted(long index) {
    commitIndex = Math.max(commitIndex, index);
  }

  /** Says in the member's own memory that its frames are whole, as far as they are. */
  synchronized void commitTail() {
    storage.commitTail();
  }

  // ---- a candidate's own copy of a better log -----------------------------------------------

  /** A free slot to read a segment into; null when there is none. */
  synchronized Integer takeSlot() {
    return storage.takeForReading();
  }

  /** Slots from {@link #takeSlot} are not needed. */
  synchronized void giveSlots(List<Integer> slots) {
    slots.forEach(pool::release);
  }

  /**
   * Makes segments that a candidate has read from another member the newest part of its own log.
   *
   * @param slots where they are, in order
   * @throws TakoException STALE_TERM when a later term was promised meanwhile; CORRUPT when they
   *     are not what that member said
   */
  synchronized void takeOver(long term, List<LogSegment> segments, List<Integer> slots)
      throws TakoException {
    checkSound();
    if (!promise.isOwn(term) || intake != null) {
      throw promise.stale(term);
    }
    promise.grantUnkept();
    List<SegmentHeader> planned = storage.planned(segments, slots, promise.grant());
    boolean all = storage.replacesAll(planned.get(0), checkpointIndex);
    Intake read = new Intake(promise.grant(), term, server(), null, slots);
    boolean whole = storage.arrive(read, planned, all);
    LogSegment last = segments.get(segments.size() - 1);
    if (!whole
        || lastOf(read.arrived()).lastIndex() != last.getLastIndex()
        || lastOf(read.arrived()).chain() != last.getChain()) {
      throw new TakoException(Status.CORRUPT, "the segments that were read are not whole");
    }
    switchTo(read.arrived(), all, promise.epoch());
    storage.closeTail();
  }

  // ---- checkpoints --------------------------------------------------------------------------

  /**
   * Whether entries are to come by a checkpoint of another member, since no leader has them in its
   * log any more: no leader's log is here since that was so, nor is this one it.
   */
  public synchronized boolean needsCheckpoint() {
    return missingIndex > checkpointIndex;
  }

  /**
   * Whether the segments of another member that begin with {@code first} continue this log, or its
   * checkpoint; else this member lacks entries that come before.
   */
  synchronized boolean continuesWith(LogSegment first) {
    Segment before = chain.get(first.getSequence() - 1);
    boolean continues =
        (before != null
                && before.lastIndex() == first.getBaseIndex() - 1
                && before.chain() == first.getBaseChain())
            || first.getBaseIndex() <= checkpointIndex + 1;
    if (!continues) {
      lack(first.getBaseIndex() - 1, first.getBaseChain());
    }
    return continues;
  }

  /**
   * Another log, which does not have the entries up to {@code index} any more, which are committed,
   * cannot continue this one; or there is never room for it beside this one. A member that has them
   * makes a checkpoint of its own. It must not take another's over: it has no state while it does,
   * and its copy may be the only one but for that of a leader. A member that does not have the last
   * of them takes one over: a majority without it has all of them, so its copy counts for nothing.
   *
   * @param chainAfter chain value after the entry
   * @return BUSY, with what it waits for
   */
  synchronized TakoException lack(long index, int chainAfter) {
    if (hasEntry(index, chainAfter)) {
      commitIndex = Math.max(commitIndex, index);
      wantedIndex = Math.max(wantedIndex, index);
      missingIndex = 0; // whatever an earlier leader has said
      return new TakoException(
          Status.BUSY, "member " + server() + " makes a checkpoint of entries up to " + index);
    }
    missingIndex = index;
    return new TakoException(
        Status.BUSY,
        "member "
            + server()
            + " needs the checkpoint of another member, with entries up to "
            + index);
  }

  /**
   * There are no slots for segments of another log, beside those that are here. A checkpoint of
   * this member makes room where it covers whole segments that the last one does not; else one of
   * another member does, where the room will not come by itself, because this log takes it.
   *
   * @param count segments that need a slot
   * @param index entries up to here are committed, with this chain value
   * @return NO_SPACE, or as {@link #lack}
   */
  synchronized TakoException lackRoom(int count, long index, int chainAfter) {
    if (hasEntry(index, chainAfter)) {
      commitIndex = Math.max(commitIndex, index);
    }
    long covered = chain.endOfOldest(commitIndex());
    if (covered > checkpointIndex) {
      wantedIndex = Math.max(wantedIndex, covered);
    } else if (index > checkpointIndex && !storage.canHold(count)) {
      return lack(index, chainAfter);
    }
    return new TakoException(
        Status.NO_SPACE,
        "member %d has %d free slots of its log, and more than %d are needed"
            .formatted(server(), pool.freeCount(), count));
  }

  /** Whether the entry {@code index} is here as another log has it, and so are those before it. */
  boolean hasEntry(long index, int chainAfter) {
    return chain.has(index, chainAfter);
  }

  /** A checkpoint of this member should have all entries up to here; 0 when it has. */
  synchronized long wantedIndex() {
    return wantedIndex > checkpointIndex ? wantedIndex : 0;
  }

  /**
   * A checkpoint of another member has all entries up to here, or it cannot take the place of the
   * state here: what comes after it must be in this log, or come to it.
   */
  public synchronized long neededIndex() {
    return Math.max(Math.max(missingIndex, checkpointIndex), trimmedIndex());
  }

  /** Entries up to here are not in this log any more, or were never. */
  public synchronized long trimmedIndex() {
    return chain.isEmpty() ? 0 : chain.segments().get(0).header().baseIndex() - 1;
  }

  /** Entries up to here are in a durable checkpoint. */
  synchronized long checkpointIndex() {
    return checkpointIndex;
  }

  /** A durable checkpoint has all entries up to {@code index}. */
  synchronized void cover(long index) {
    checkpointIndex = Math.max(checkpointIndex, index);
  }

  /** Gives up closed segments without an entry above {@code index}; returns how many. */
  synchronized int trim(long index) {
    return storage.trim(index);
  }

  /** Gives back slots whose former writers have ended. */
  public synchronized void poll() {
    pool.poll();
  }

  /** Makes slots ready for use; to be called again and again while nothing is urgent. */
  synchronized void tidy() {
    pool.tidy();
  }

  // ---- checks -------------------------------------------------------------------------------

  private void checkSound() throws TakoException {
    if (damage != null) {
      throw damage;
    }
  }

  /**
   * Lets nobody in who goes by an older configuration than one that was acted on here.
   *
   * @throws TakoException STALE_VERSION when {@code epoch} is such a one
   */
  void checkEpoch(long epoch) throws TakoException {
    promise.checkEpoch(epoch);
  }

  /** Entries of a namespace that was lost may not become a part of another one. */
  private void checkNamespace(long term) throws TakoException {
    boolean empty = chain.lastIndex() == 0 && knownCommitted() == 0 && promise.counted() == 0;
    // One that has adopted no log yet has a checkpoint at most, of the leader that it let in first.
    long own = promise.acceptedTerm() == 0 ? promise.term() : promise.acceptedTerm();
    if (!empty && Terms.namespace(term) != Terms.namespace(own)) {
      throw new TakoException(
          Status.INVALID_ARGUMENT,
          "the pool of server "
              + server()
              + " has a namespace that was lost, and another one began since: remove the pool's"
              + " directory, and start the server once with `tako server --format`");
    }
  }

  private void checkGrant(long term, long grant) throws TakoException {
    if (!isCurrent(term, grant)) {
      throw promise.stale(term);
    }
  }

  private boolean isCurrent(long term, long grant) {
    return intake != null
        && !intake.isEnding()
        && intake.number() == grant
        && intake.term() == term
        && promise.term() == term;
  }

  /** For messages. */
  @Override
  public synchronized String toString() {
    return "member "
        + server()
        + ": "
        + promise
        + ", entries up to "
        + chain.lastIndex()
        + " in segments "
        + (chain.isEmpty() ? 0 : chain.segments().get(0).header().segmentSequence())
        + " to "
        + (chain.nextSequence() - 1)
        + ", committed up to "
        + commitIndex
        + ", in a checkpoint up to "
        + checkpointIndex
        + (needsCheckpoint() ? ", missing up to " + missingIndex : "")
        + ", "
        + pool.freeCount()
        + " free slots"
        + (intake == null ? "" : ", grant " + intake.number() + " adopted " + intake.isAdopted());
  }
}
