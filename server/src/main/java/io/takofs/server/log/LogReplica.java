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
import io.takofs.transport.MemoryRegion;
import io.takofs.transport.QueuePair;
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
  /** Slots that a leader gets with a grant, and that it has ahead of its present segment. */
  private static final int SLOTS_AHEAD = 2;

  /** Slots that no leader gets: for copies of the newest segments, and to lead with. */
  private static final int SLOTS_KEPT = 2 + SLOTS_AHEAD;

  private final int server;
  private final LogZone zone;
  private final LogMemory memory;
  private final LogIdentity identity;
  private final FrameCodec codec;
  private final Crc32cScratch crc = new Crc32cScratch();
  private final SegmentScanner scanner;
  private final SlotPool pool;
  private final Chain chain;
  private final ByteBuffer heartbeat;
  private Promise promise;
  private Intake intake; // null when nobody may write here
  private long leadingTerm; // 0: this member does not lead
  private long commitIndex;
  private long checkpointIndex;
  private long missingIndex; // entries up to here are to come by a checkpoint; 0 for none
  private int lastBeat;
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
      LogMemory memory,
      LogIdentity identity,
      long checkpointIndex,
      BooleanSupplier writersAreGone,
      FrameCodec codec)
      throws TakoException {
    this.codec = codec;
    this.server = server;
    this.checkpointIndex = checkpointIndex;
    this.zone = zone;
    this.memory = memory;
    this.identity = identity;
    this.scanner = new SegmentScanner(crc, codec);
    ReplicaRecovery recovery = ReplicaRecovery.run(zone, identity, crc, scanner, writersAreGone);
    this.pool = recovery.pool();
    this.chain = recovery.chain();
    this.promise = recovery.promise();
    this.heartbeat = memory.heartbeat().buffer();
    this.commitIndex = chain.commitIndex();
  }

  /**
   * Opens the log in {@code zone}; a zone of zeros becomes an empty one.
   *
   * @param server number of this member
   * @param checkpointIndex entries up to here are in a checkpoint
   * @param writersAreGone whether no leader that an earlier process let in can still store to the
   *     zone; asked again until it is true, which it stays. Nothing that they store counts at them
   *     any more when this is called: the transport has seen to that
   * @throws TakoException CORRUPT when what the member has promised, or what it had acknowledged,
   *     cannot be read
   */
  public static LogReplica open(
      int server,
      LogZone zone,
      LogMemory memory,
      LogIdentity identity,
      long checkpointIndex,
      BooleanSupplier writersAreGone)
      throws TakoException {
    return new LogReplica(
        server, zone, memory, identity, checkpointIndex, writersAreGone, new FrameCodec());
  }

  /** Number of this member. */
  public int server() {
    return server;
  }

  // ---- what is so ---------------------------------------------------------------------------

  /** No leader of an earlier term is let in. */
  public synchronized long promisedTerm() {
    return promise.term();
  }

  /** Whether this member has promised {@code term} to itself, and has let nobody else in. */
  synchronized boolean standsIn(long term) {
    return promise.term() == term && promise.candidate() == server;
  }

  /** Highest epoch of a configuration that was acted on here. */
  public synchronized long epoch() {
    return promise.epoch();
  }

  /** Term of the leader whose log this member has. */
  public synchronized long acceptedTerm() {
    return promise.acceptedTerm();
  }

  /** Index of the last entry that is known to be whole here. */
  public synchronized long lastIndex() {
    return chain.lastIndex();
  }

  /** Highest index that is known here to be committed, and is there. */
  public synchronized long commitIndex() {
    return Math.min(commitIndex, chain.lastIndex());
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

  LogMemory memory() {
    return memory;
  }

  int freeSlots() {
    return pool.freeCount();
  }

  /** Where the log of this member ends. */
  synchronized LogPosition position() {
    LogPosition.Builder position =
        LogPosition.newBuilder()
            .setPromisedTerm(promise.term())
            .setEpoch(promise.epoch())
            .setAcceptedTerm(promise.acceptedTerm())
            .setLastIndex(chain.lastIndex())
            .setCommitIndex(commitIndex)
            .setCheckpointIndex(checkpointIndex);
    for (Segment segment : chain.segments()) {
      position.addSegments(describe(segment));
    }
    return position.build();
  }

  /** The segment as candidates and members learn of it. */
  LogSegment describe(Segment segment) {
    SegmentHeader header = segment.header();
    MemoryRegion region = memory.slots().get(segment.slot());
    return LogSegment.newBuilder()
        .setSequence(header.segmentSequence())
        .setTerm(header.term())
        .setBaseIndex(header.baseIndex())
        .setBaseChain(header.baseChain())
        .setLastIndex(segment.lastIndex())
        .setChain(segment.chain())
        .setLength(segment.length())
        .setAddress(region.address())
        .setRkey(region.rkey())
        .build();
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
    boolean again =
        request.getTerm() == promise.term()
            && request.getCandidate() == promise.candidate()
            && (intake == null || intake.term() < promise.term())
            && promise.acceptedTerm() < promise.term();
    if (request.getTerm() <= promise.term() && !again) {
      throw stale(request.getTerm());
    }
    promise(request.getTerm(), request.getCandidate(), request.getEpoch());
    endWriting();
    return position();
  }

  private void promise(long term, int candidate, long epoch) {
    if (term > promise.term() || epoch > promise.epoch() || candidate != promise.candidate()) {
      promise = promise.promised(term, candidate, epoch);
      promise.write(zone, identity.logId(), crc);
    }
  }

  /**
   * Ends what a leader may write here: afterwards this member's log changes no more by itself. When
   * the transport cannot promise at once that nothing lands any more, what may still change is
   * copied to where the former leader does not reach; what it counts as written is in the copy.
   */
  private void endWriting() throws TakoException {
    if (leadingTerm != 0) {
      leadingTerm = 0;
      closeTail();
    }
    if (intake == null) {
      return;
    }
    Intake ending =
        intake; // it stays until all is done, since a part of it may have to be repeated
    boolean ended = ending.revoke();
    List<Integer> left = ending.copied();
    if (!ending.isAdopted()) {
      left.addAll(ending.slots());
    } else {
      if (!ended) {
        checkRoomForCopies(ending);
        left.add(isolateTail());
      }
      scan(ending, !ended, left);
      checkSound();
      closeTail();
      left.addAll(ending.unusedSlots());
    }
    intake = null;
    pool.rest(left, ending::revokeAndClose);
  }

  private void checkRoomForCopies(Intake ending) throws TakoException {
    pool.poll();
    if (pool.freeCount() < 1 + ending.unusedSlots().size()) {
      throw new TakoException(
          Status.BUSY,
          "member " + server + " waits until a former leader has left its memory; ask again");
    }
  }

  /** Puts the newest segment where nobody else stores; returns the slot where it was. */
  private int isolateTail() {
    Segment tail = chain.tail();
    int from = tail.slot();
    int to = takeForCopy();
    zone.copy(from, to);
    SegmentHeader header = tail.header().movedTo(pool.header(to));
    Segment moved = tail.movedTo(to, header);
    pool.setHeader(to, header);
    chain.cutFrom(header.segmentSequence());
    chain.add(moved);
    moved.writeHeader(crc);
    pool.grant(from, header.grant(), 0, header.term()); // no part of the log now
    return from;
  }

  private int takeForCopy() {
    Integer slot = pool.take();
    Invariant.check(slot != null, "a slot is kept for a copy of the newest segment");
    return slot;
  }

  /**
   * Fixes the length of the newest segment. One without a frame is given up, unless it is all that
   * says where the log is: a checkpoint may have taken the others.
   */
  private void closeTail() {
    Segment tail = chain.tail();
    if (tail == null || !tail.isOpen()) {
      return;
    }
    if (tail.isEmpty() && chain.segments().size() > 1) {
      chain.cutFrom(tail.header().segmentSequence());
      pool.rest(List.of(tail.slot()), () -> true);
    } else {
      seal(tail);
    }
  }

  private void seal(Segment segment) {
    segment.seal(crc);
    pool.setHeader(segment.slot(), segment.header());
  }

  // ---- what a leader writes -----------------------------------------------------------------

  /**
   * Gives the leader slots for a new connection. An earlier grant ends; what came under it stays.
   * The leader of the promised term may be another than the candidate that the promise was made to:
   * a majority has promised the term to the leader, so that nobody else leads in it.
   *
   * @throws TakoException as of {@link #prepare}; NO_SPACE when no slot is free
   */
  public synchronized LogGrant grant(GrantLog request) throws TakoException {
    checkSound();
    checkEpoch(request.getEpoch());
    if (request.getTerm() < promise.term()
        || isLeading(request.getTerm())
        || request.getLeader() == server) {
      throw stale(request.getTerm());
    }
    promise(request.getTerm(), request.getLeader(), request.getEpoch());
    endWriting();
    if (request.getFirstIndex() > checkpointIndex + 1) {
      missingIndex = request.getFirstIndex() - 1;
      throw new TakoException(
          Status.BUSY,
          "member " + server + " lacks entries that no leader has in its log any more");
    }
    pool.poll();
    List<Integer> slots = new ArrayList<>();
    promise = promise.granted();
    promise.write(zone, identity.logId(), crc);
    intake = new Intake(promise.grant(), request.getTerm(), request.getLeader(), slots);
    offerSlots(1 + SLOTS_AHEAD);
    if (intake.slots().isEmpty()) {
      intake = null;
      throw new TakoException(
          Status.NO_SPACE, "no slot of the log of member " + server + " is free");
    }
    clearHeartbeat();
    return describeGrant(0).setPosition(position()).build();
  }

  private void offerSlots(int count) {
    // What is not adopted is never copied, and gives back what it replaces.
    int kept = intake.isAdopted() ? SLOTS_KEPT : 1;
    for (int i = 0; i < count && pool.freeCount() > kept; i++) {
      int slot = pool.take();
      Segment tail = chain.tail();
      long sequence =
          intake.isAdopted()
              ? tail.header().segmentSequence() + 1 + intake.unusedSlots().size()
              : 0;
      pool.grant(slot, intake.number(), sequence, intake.term());
      intake.slots().add(slot);
    }
  }

  private LogGrant.Builder describeGrant(int from) {
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

  private void clearHeartbeat() {
    heartbeat.putLong(0, 0);
    heartbeat.putLong(Layout.HEARTBEAT_COMMIT_INDEX_OFFSET, 0);
    lastBeat = 0;
  }

  /**
   * Gives the leader slots for the segments that follow under its grant.
   *
   * @throws TakoException STALE_TERM when the grant has ended
   */
  public synchronized LogGrant extend(ExtendLog request) throws TakoException {
    checkSound();
    checkGrant(request.getTerm(), request.getGrant());
    scan();
    pool.poll();
    int has = request.getSlots();
    if (has == intake.slots().size()) {
      offerSlots(Math.max(1, SLOTS_AHEAD - intake.unusedSlots().size()));
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
      List<SegmentHeader> planned = planned(request.getSegmentsList(), intake.slots());
      if (planned.isEmpty() || planned.get(0).segmentSequence() != request.getFirstSequence()) {
        throw new TakoException(
            Status.INVALID_ARGUMENT, "the segments are not those that the leader began with");
      }
      boolean whole = isWhole(planned);
      if (!intake.scan(zone, planned, whole ? 0 : previousTerm(planned), scanner)
          || lastOf(intake.arrived()).lastIndex() < request.getLastIndex()) {
        throw new TakoException(
            Status.BUSY, "the leader's log has not arrived at member " + server + " yet");
      }
      take(intake.arrived(), whole, request.getEpoch());
      intake.adopt();
      numberUnused();
    }
    return position();
  }

  private static Segment lastOf(List<Segment> segments) {
    return segments.get(segments.size() - 1);
  }

  /** The headers that the segments get here. */
  private List<SegmentHeader> planned(List<LogSegment> segments, List<Integer> slots) {
    List<SegmentHeader> planned = new ArrayList<>();
    for (int i = 0; i < segments.size(); i++) {
      LogSegment each = segments.get(i);
      SegmentHeader segment =
          new SegmentHeader(
              SegmentState.OPEN,
              identity.logId(),
              identity.incarnation(),
              each.getSequence(),
              each.getTerm(),
              each.getBaseIndex(),
              each.getBaseChain(),
              0,
              0,
              0,
              0);
      planned.add(
          i < slots.size()
              ? pool.header(slots.get(i)).holding(segment, identity.incarnation(), promise.grant())
              : segment);
    }
    return planned;
  }

  /**
   * Whether what came replaces all that this member has.
   *
   * @throws TakoException INVALID_ARGUMENT when it continues neither the log nor the checkpoint
   */
  private boolean isWhole(List<SegmentHeader> planned) throws TakoException {
    if (!planned.isEmpty()) {
      SegmentHeader first = planned.get(0);
      Segment before = chain.get(first.segmentSequence() - 1);
      if (before != null
          && before.lastIndex() == first.baseIndex() - 1
          && before.chain() == first.baseChain()) {
        return false;
      }
      if (first.baseIndex() <= checkpointIndex + 1) {
        return true;
      }
    }
    throw new TakoException(
        Status.INVALID_ARGUMENT, "the leader's log does not continue that of member " + server);
  }

  private long previousTerm(List<SegmentHeader> planned) {
    Segment before = chain.get(planned.get(0).segmentSequence() - 1);
    return before == null ? 0 : before.lastTerm();
  }

  /** Switches to the leader's log: the promise, written in one piece, is the moment. */
  private void take(List<Segment> segments, boolean whole, long epoch) {
    for (Segment segment : segments) {
      segment.writeHeader(crc);
      if (segment == lastOf(segments)) {
        segment.commit(crc);
        pool.setHeader(segment.slot(), segment.header());
      } else {
        seal(segment);
      }
    }
    long first = segments.get(0).header().segmentSequence();
    promise = promise.adopted(first, whole, epoch);
    promise.write(zone, identity.logId(), crc);
    List<Integer> replaced = new ArrayList<>();
    chain.cutFrom(whole ? 0 : first).forEach(segment -> replaced.add(segment.slot()));
    pool.rest(replaced, () -> true);
    segments.forEach(chain::add);
    commitIndex = Math.max(commitIndex, chain.commitIndex());
  }

  /** The segments that will be in the slots that the leader has left are known now. */
  private void numberUnused() {
    long sequence = chain.nextSequence();
    for (int slot : intake.unusedSlots()) {
      pool.grant(slot, intake.number(), sequence++, intake.term());
    }
  }

  /** Looks at what has come since the last time, and at the heartbeat. */
  public synchronized void scan() {
    if (intake != null && !intake.isEnding() && damage == null) {
      if (intake.isAdopted()) {
        scan(intake, false, new ArrayList<>());
      }
      heard |= readHeartbeat();
    }
  }

  /** Whether the leader has shown itself since the last time this was asked. */
  synchronized boolean hasHeard() {
    boolean since = heard;
    heard = false;
    return since;
  }

  /**
   * Takes in the frames that are whole.
   *
   * @param isolate whether slots are copied before they are looked at
   * @param left gets the slots that were copied
   */
  private void scan(Intake from, boolean isolate, List<Integer> left) {
    for (; ; ) {
      Segment tail = chain.tail();
      SegmentScanner.Result result = tail.extend(scanner);
      if (result.end() == SegmentScanner.End.CORRUPT) {
        damaged(result.reason());
        return;
      }
      tail.commit(crc);
      commitIndex = Math.max(commitIndex, tail.commitIndex());
      Integer slot = from.nextSlot();
      if (slot == null || !beginNext(from, tail, slot, isolate, left)) {
        return;
      }
    }
  }

  /** Begins the segment after {@code tail} if the leader has begun it. */
  private boolean beginNext(
      Intake from, Segment tail, int slot, boolean isolate, List<Integer> left) {
    if (zone.slot(slot).getLong(Layout.SEGMENT_DATA_OFFSET) == 0) {
      return false;
    }
    int home = slot;
    if (isolate) {
      home = takeForCopy();
      zone.copy(slot, home);
    }
    SegmentHeader header =
        pool.header(home)
            .holding(
                tail.header().following(tail.lastIndex(), tail.chain(), from.term()),
                identity.incarnation(),
                from.number());
    Segment next = Segment.arriving(zone, home, header, tail.lastTerm(), scanner);
    next.extend(scanner);
    if (next.isEmpty()) {
      if (isolate) {
        pool.rest(List.of(home), () -> true);
      }
      return false;
    }
    seal(tail);
    pool.setHeader(home, header);
    next.writeHeader(crc);
    chain.add(next);
    from.begin();
    if (isolate) {
      left.add(slot);
    }
    return true;
  }

  private boolean readHeartbeat() {
    int term = heartbeat.getInt(Layout.HEARTBEAT_TERM_OFFSET);
    int counter = heartbeat.getInt(Layout.HEARTBEAT_COUNTER_OFFSET);
    if (term != (int) intake.term() || counter == lastBeat) {
      return false;
    }
    lastBeat = counter;
    if (intake.isAdopted()) { // else the index says nothing of this member's log
      commitIndex = Math.max(commitIndex, heartbeat.getLong(Layout.HEARTBEAT_COMMIT_INDEX_OFFSET));
    }
    return true;
  }

  private void damaged(String why) {
    damage =
        new TakoException(
            Status.CORRUPT,
            "the log of member " + server + " is damaged: " + why + "; replace the member");
    intake.revoke(); // what it acknowledges would count
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
    }
  }

  // ---- leading ------------------------------------------------------------------------------

  /**
   * Makes this member's log that of the leader of {@code term}, itself.
   *
   * @throws TakoException STALE_TERM when it has promised a later term meanwhile
   */
  synchronized void lead(long term) throws TakoException {
    checkSound();
    if (promise.term() != term || promise.candidate() != server || intake != null) {
      throw stale(term);
    }
    if (pool.freeCount() == 0) {
      throw full();
    }
    promise = promise.granted().adopted(chain.nextSequence(), false, promise.epoch());
    promise.write(zone, identity.logId(), crc);
    leadingTerm = term;
    open(term, chain.tail()); // members adopt the log with it
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
          Status.NOT_LEADER, "member " + server + " does not lead in term " + term + " any more");
    }
    Segment tail = chain.tail();
    if (tail == null || !tail.isOpen() || !tail.hasRoom(payload.remaining())) {
      tail = roll(term, tail);
    }
    tail.append(codec, type, committed, payload);
    return tail.lastIndex();
  }

  private Segment roll(long term, Segment tail) throws TakoException {
    if (pool.freeCount() <= SLOTS_KEPT) {
      pool.poll();
      throw full();
    }
    if (tail != null && tail.isOpen()) {
      seal(tail);
    }
    return open(term, tail);
  }

  /** Opens the segment after {@code tail}, which is closed, or the first one. */
  private Segment open(long term, Segment tail) throws TakoException {
    Integer slot = pool.take();
    if (slot == null) {
      throw full();
    }
    SegmentHeader segment =
        tail == null
            ? firstHeader(term)
            : tail.header().following(tail.lastIndex(), tail.chain(), term);
    SegmentHeader header =
        pool.header(slot).holding(segment, identity.incarnation(), promise.adoptedGrant());
    pool.setHeader(slot, header);
    Segment next = Segment.open(zone, slot, header, crc);
    chain.add(next);
    return next;
  }

  private static TakoException full() {
    return new TakoException(
        Status.NO_SPACE, "all segments of the log hold entries above the last checkpoint");
  }

  private SegmentHeader firstHeader(long term) {
    return new SegmentHeader(
        SegmentState.OPEN, identity.logId(), identity.incarnation(), 1, term, 1, 0, 0, 0, 0, 0);
  }

  /** The leader, this member, has learned what is committed. */
  synchronized void learnCommitted(long index) {
    commitIndex = Math.max(commitIndex, index);
  }

  /** Says in the member's own memory that its frames are whole, as far as they are. */
  synchronized void commitTail() {
    Segment tail = chain.tail();
    if (tail != null && tail.isOpen()) {
      tail.commit(crc);
    }
  }

  // ---- a candidate's own copy of a better log -----------------------------------------------

  /** A free slot to read a segment into; null when there is none. */
  synchronized Integer takeSlot() {
    pool.poll();
    return pool.freeCount() > SLOTS_KEPT ? pool.take() : null;
  }

  /** Slots from {@link #takeSlot} are not needed. */
  synchronized void giveSlots(List<Integer> slots) {
    pool.rest(slots, () -> true);
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
    if (promise.term() != term || promise.candidate() != server || intake != null) {
      throw stale(term);
    }
    promise = promise.granted();
    List<SegmentHeader> planned = planned(segments, slots);
    boolean all = isWhole(planned);
    Intake read = new Intake(promise.grant(), term, server, slots);
    boolean whole = read.scan(zone, planned, all ? 0 : previousTerm(planned), scanner);
    LogSegment last = segments.get(segments.size() - 1);
    if (!whole
        || lastOf(read.arrived()).lastIndex() != last.getLastIndex()
        || lastOf(read.arrived()).chain() != last.getChain()) {
      throw new TakoException(Status.CORRUPT, "the segments that were read are not whole");
    }
    take(read.arrived(), all, promise.epoch());
    closeTail();
  }

  // ---- checkpoints --------------------------------------------------------------------------

  /**
   * Entries up to here are to come by a checkpoint of another member, since no leader has them in
   * its log any more; 0 for none.
   */
  public synchronized long missingIndex() {
    return missingIndex > checkpointIndex ? missingIndex : 0;
  }

  /** A durable checkpoint has all entries up to {@code index}. */
  synchronized void cover(long index) {
    checkpointIndex = Math.max(checkpointIndex, index);
  }

  /** Gives up closed segments without an entry above {@code index}; returns how many. */
  synchronized int trim(long index) {
    int count = 0;
    for (Segment old = chain.cutOldest(index); old != null; old = chain.cutOldest(index)) {
      pool.rest(List.of(old.slot()), () -> true);
      count++;
    }
    return count;
  }

  /** Gives back slots whose former writers have ended. */
  public synchronized void poll() {
    pool.poll();
  }

  // ---- checks -------------------------------------------------------------------------------

  private void checkSound() throws TakoException {
    if (damage != null) {
      throw damage;
    }
  }

  private void checkEpoch(long epoch) throws TakoException {
    if (epoch < promise.epoch()) {
      throw new TakoException(
          Status.STALE_VERSION,
          "member "
              + server
              + " has acted on configuration "
              + promise.epoch()
              + " of the group, and the caller has "
              + epoch);
    }
  }

  private void checkGrant(long term, long grant) throws TakoException {
    if (!isCurrent(term, grant)) {
      throw stale(term);
    }
  }

  private boolean isCurrent(long term, long grant) {
    return intake != null
        && !intake.isEnding()
        && intake.number() == grant
        && intake.term() == term
        && promise.term() == term;
  }

  private TakoException stale(long term) {
    return new TakoException(
        Status.STALE_TERM,
        "member "
            + server
            + " has promised term "
            + promise.term()
            + " to server "
            + promise.candidate()
            + ", and was asked in term "
            + term);
  }

  /** For messages. */
  @Override
  public synchronized String toString() {
    return "member "
        + server
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
        + (missingIndex() == 0 ? "" : ", missing up to " + missingIndex)
        + ", "
        + pool.freeCount()
        + " free slots"
        + (intake == null ? "" : ", grant " + intake.number() + " adopted " + intake.isAdopted());
  }
}
