package io.takofs.server.log;

import io.takofs.base.Invariant;
import io.takofs.base.TakoException;
import io.takofs.layout.Layout;
import io.takofs.proto.LogSegment;
import io.takofs.proto.Status;
import io.takofs.server.segment.Chain;
import io.takofs.server.segment.Crc32cScratch;
import io.takofs.server.segment.FrameCodec;
import io.takofs.server.segment.FramesBeyond;
import io.takofs.server.segment.LogIdentity;
import io.takofs.server.segment.LogZone;
import io.takofs.server.segment.Segment;
import io.takofs.server.segment.SegmentHeader;
import io.takofs.server.segment.SegmentScanner;
import io.takofs.server.segment.SegmentState;
import io.takofs.server.segment.SlotPool;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/**
 * The segments of a member's log in their slots. Each change is a row of steps after any of which
 * the process may die: {@link ReplicaRecovery} then finds the log as it was before the change, or
 * after it.
 *
 * <p>Thread rule: the holder of the replica's monitor.
 */
final class ReplicaStorage {
  /** Slots that a leader has ahead of its present segment. */
  static final int SLOTS_AHEAD = 2;

  /** Slots that no leader gets: for copies of the newest segments, and to lead with. */
  private static final int SLOTS_KEPT = 2 + SLOTS_AHEAD;

  /**
   * Slots that are left by what is no part of the log yet: it is never copied, and gives back what
   * it replaces when it becomes one. One is to lead with.
   */
  private static final int LEFT = 1;

  /** Slots are scarce when fewer than one of so many are free. */
  private static final int SCARCE = 3;

  /** A log with more segments is short, one with twice as many scarce: a call names all of them. */
  static final int SEGMENTS_MAX = 128;

  /** A zone too small for that is a group's only member's, to which nobody writes. */
  private final int kept;

  private final LogZone zone;
  private final LogIdentity identity;
  private final FrameCodec codec;
  private final Crc32cScratch crc;
  private final SegmentScanner scanner;
  private final FramesBeyond beyond;
  private final SlotPool pool;
  private final Chain chain;

  ReplicaStorage(
      LogZone zone,
      LogIdentity identity,
      FrameCodec codec,
      Crc32cScratch crc,
      SegmentScanner scanner,
      SlotPool pool,
      Chain chain) {
    this.zone = zone;
    this.kept = Math.min(SLOTS_KEPT, zone.slotCount() - 2);
    this.identity = identity;
    this.codec = codec;
    this.crc = crc;
    this.scanner = scanner;
    this.beyond = new FramesBeyond(zone, scanner);
    this.pool = pool;
    this.chain = chain;
  }

  Chain chain() {
    return chain;
  }

  SlotPool pool() {
    return pool;
  }

  /** Whether so few slots are free, or so many in use, that a checkpoint should take segments. */
  boolean isShort() {
    return 2 * pool.freeCount() <= zone.slotCount() || chain.segments().size() > SEGMENTS_MAX;
  }

  /** Whether that is so in earnest: {@link #append} has no segment more, or soon will not. */
  boolean isScarce() {
    return SCARCE * pool.freeCount() < zone.slotCount()
        || pool.freeCount() <= kept
        || chain.segments().size() > 2 * SEGMENTS_MAX;
  }

  // ---- closing ------------------------------------------------------------------------------

  private void seal(Segment segment) {
    segment.seal(crc);
    pool.setHeader(segment.slot(), segment.header());
  }

  /**
   * Fixes the length of the newest segment. One without a frame is given up, unless it is all that
   * says where the log is: a checkpoint may have taken the others.
   */
  void closeTail() {
    Segment tail = chain.tail();
    if (tail == null || !tail.isOpen()) {
      return;
    }
    if (tail.isEmpty() && chain.segments().size() > 1) {
      chain.cutFrom(tail.header().segmentSequence());
      pool.release(tail.slot());
    } else {
      seal(tail);
    }
  }

  /** Says in the slot that the newest frames are whole, as far as they are. */
  void commitTail() {
    Segment tail = chain.tail();
    if (tail != null && tail.isOpen()) {
      tail.commit(crc);
    }
  }

  /** Gives up closed segments without an entry above {@code index}; returns how many. */
  int trim(long index) {
    int count = 0;
    for (Segment old = chain.cutOldest(index); old != null; old = chain.cutOldest(index)) {
      pool.release(old.slot());
      count++;
    }
    return count;
  }

  // ---- what another member writes -----------------------------------------------------------

  /** Whether a new grant can have {@code count} slots. */
  boolean canOffer(int count) {
    return pool.freeCount() >= count + LEFT;
  }

  /** Gives the leader up to {@code count} slots more, as far as there are any. */
  void offerSlots(Intake intake, int count) {
    int least = intake.isAdopted() ? kept : LEFT;
    for (int i = 0; i < count && pool.freeCount() > least; i++) {
      int slot = pool.take();
      long sequence = intake.isAdopted() ? chain.nextSequence() + intake.unusedSlots().size() : 0;
      pool.grant(slot, intake.number(), sequence, intake.term());
      intake.slots().add(slot);
    }
  }

  /** Whether so many segments more would have slots, if nothing but this log took any. */
  boolean canHold(int count) {
    return chain.segments().size() + count + LEFT <= zone.slotCount();
  }

  /** Whether the copies that {@link #isolateTail} and {@link #scan} make have room. */
  boolean hasRoomForCopies(Intake intake) {
    pool.poll();
    return pool.freeCount() >= 1 + intake.unusedSlots().size();
  }

  /** Puts the newest segment where nobody else stores; returns the slot where it was. */
  int isolateTail() {
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
    Integer slot = pool.takeToOverwrite();
    Invariant.check(slot != null, "a slot is kept for a copy of the newest segment");
    return slot;
  }

  /**
   * Takes in the frames that are whole, of the newest segment and of those that follow.
   *
   * @param isolate whether slots are copied before they are looked at
   * @param left gets the slots that were copied
   * @return what is wrong with the memory; empty when nothing is
   */
  String scan(Intake intake, boolean isolate, List<Integer> left) {
    for (; ; ) {
      Segment tail = chain.tail();
      SegmentScanner.Result result = tail.extend(scanner);
      if (result.end() == SegmentScanner.End.CORRUPT) {
        return result.reason();
      }
      tail.commit(crc);
      Integer slot = intake.nextSlot();
      if (slot == null || !beginNext(intake, tail, slot, isolate, left)) {
        return "";
      }
    }
  }

  /** The highest index that frames name committed which come after the log's end; 0 for none. */
  long committedBeyond(Intake intake) {
    return beyond.committed(chain.tail(), intake.unusedSlots(), intake.term());
  }

  /** Begins the segment after {@code tail} if the leader has begun it. */
  private boolean beginNext(
      Intake intake, Segment tail, int slot, boolean isolate, List<Integer> left) {
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
                tail.header().following(tail.lastIndex(), tail.chain(), intake.term()),
                identity.incarnation(),
                intake.number());
    Segment next = Segment.arriving(zone, home, header, tail.lastTerm(), scanner);
    next.extend(scanner);
    if (next.isEmpty()) {
      if (isolate) {
        pool.release(home);
      }
      return false;
    }
    seal(tail);
    pool.setHeader(home, header);
    next.writeHeader(crc);
    chain.add(next);
    intake.begin();
    if (isolate) {
      left.add(slot);
    }
    return true;
  }

  // ---- another log instead of this one ------------------------------------------------------

  /**
   * The headers that segments of another member get here.
   *
   * @param slots where they are, in the same order; maybe fewer
   */
  List<SegmentHeader> planned(List<LogSegment> segments, List<Integer> slots, long grant) {
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
              ? pool.header(slots.get(i)).holding(segment, identity.incarnation(), grant)
              : segment);
    }
    return planned;
  }

  /**
   * Whether segments that begin with {@code first} replace all that is here, and not only what
   * comes after the segment before them.
   *
   * @throws TakoException INVALID_ARGUMENT when they continue neither the log nor the checkpoint
   */
  boolean replacesAll(SegmentHeader first, long checkpointIndex) throws TakoException {
    Segment before = chain.get(first.segmentSequence() - 1);
    if (before != null
        && first.follows(before.header().segmentSequence(), before.lastIndex(), before.chain())) {
      return false;
    }
    if (first.baseIndex() <= checkpointIndex + 1) {
      return true;
    }
    throw new TakoException(
        Status.INVALID_ARGUMENT, "segments that continue neither the log nor its checkpoint");
  }

  /** Looks at what has come into the slots; returns whether all but the last are whole. */
  boolean arrive(Intake intake, List<SegmentHeader> planned, boolean all) {
    Segment before = all ? null : chain.get(planned.get(0).segmentSequence() - 1);
    return intake.scan(zone, planned, before == null ? 0 : before.lastTerm(), scanner);
  }

  /** Makes the slots of {@code segments} their homes; they are no part of the log yet. */
  void prepare(List<Segment> segments) {
    for (Segment segment : segments) {
      segment.writeHeader(crc);
      if (segment == segments.get(segments.size() - 1)) {
        segment.commit(crc);
        pool.setHeader(segment.slot(), segment.header());
      } else {
        seal(segment);
      }
    }
  }

  /** The promise has switched to {@code segments}: what they replace is given up. */
  void replace(List<Segment> segments, boolean all) {
    long first = all ? 0 : segments.get(0).header().segmentSequence();
    chain.cutFrom(first).forEach(segment -> pool.release(segment.slot()));
    segments.forEach(chain::add);
  }

  /** The segments that will be in the slots that the leader has left are known now. */
  void numberUnused(Intake intake) {
    long sequence = chain.nextSequence();
    for (int slot : intake.unusedSlots()) {
      pool.grant(slot, intake.number(), sequence++, intake.term());
    }
  }

  // ---- a leader's own log -------------------------------------------------------------------

  /** Whether {@link #open} has a slot. */
  boolean canOpen() {
    pool.poll();
    return pool.freeCount() > 0;
  }

  /**
   * Opens the segment after the newest one, which is closed, or the first one.
   *
   * @param checkpointIndex after which a log without a segment begins
   */
  Segment open(long term, long grant, long checkpointIndex) throws TakoException {
    Integer slot = pool.take();
    if (slot == null) {
      throw full();
    }
    Segment tail = chain.tail();
    SegmentHeader segment =
        tail == null
            ? first(term, checkpointIndex + 1)
            : tail.header().following(tail.lastIndex(), tail.chain(), term);
    SegmentHeader header = pool.header(slot).holding(segment, identity.incarnation(), grant);
    pool.setHeader(slot, header);
    Segment next = Segment.open(zone, slot, header, crc);
    chain.add(next);
    return next;
  }

  private SegmentHeader first(long term, long baseIndex) {
    return new SegmentHeader(
        SegmentState.OPEN,
        identity.logId(),
        identity.incarnation(),
        1,
        term,
        baseIndex,
        0,
        0,
        0,
        0,
        0);
  }

  /** Appends one frame to the newest segment, or to one that is opened for it. */
  long append(long term, long grant, byte type, long committed, ByteBuffer payload)
      throws TakoException {
    Segment tail = chain.tail();
    if (!tail.isOpen() || !tail.hasRoom(payload.remaining())) {
      if (pool.freeCount() <= kept) {
        pool.poll();
        throw pool.isResting() && chain.segments().size() == 1 ? resting() : full();
      }
      if (tail.isOpen()) {
        seal(tail);
      }
      tail = open(term, grant, tail.lastIndex());
    }
    tail.append(codec, type, committed, payload);
    return tail.lastIndex();
  }

  private TakoException resting() {
    return new TakoException(
        Status.NO_SPACE,
        "too few segments of the log are free: a process that led before, and neither goes on nor"
            + " ends, may still write to others");
  }

  static TakoException full() {
    return new TakoException(
        Status.NO_SPACE, "all segments of the log hold entries above the last checkpoint");
  }

  /** A free slot to read a segment into; null when there is none. */
  Integer takeForReading() {
    pool.poll();
    return pool.freeCount() > LEFT ? pool.take() : null;
  }
}
