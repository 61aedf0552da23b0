package io.takofs.server.log;

import io.takofs.base.TakoException;
import io.takofs.proto.Status;
import io.takofs.server.segment.Chain;
import io.takofs.server.segment.CommitMark;
import io.takofs.server.segment.Crc32cScratch;
import io.takofs.server.segment.FramesBeyond;
import io.takofs.server.segment.LogIdentity;
import io.takofs.server.segment.LogZone;
import io.takofs.server.segment.Segment;
import io.takofs.server.segment.SegmentHeader;
import io.takofs.server.segment.SegmentScanner;
import io.takofs.server.segment.SegmentScanner.End;
import io.takofs.server.segment.SegmentState;
import io.takofs.server.segment.SlotPool;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.function.BooleanSupplier;

/**
 * Finds the log of a member in its memory after a restart of its process: which segments are part
 * of it follows from the promise, and where it ends from a scan. It is closed there, since nothing
 * may follow frames that an earlier process left.
 *
 * <p>Thread rule: one thread.
 */
final class ReplicaRecovery {
  private final LogZone zone;
  private final LogIdentity identity;
  private final Crc32cScratch crc;
  private final SegmentScanner scanner;
  private final BooleanSupplier writersAreGone;
  private Promise promise;
  private final SegmentHeader[] headers;
  private final SlotPool pool;
  private final Chain chain = new Chain();
  private final List<Integer> later = new ArrayList<>(); // for segments after the last one
  private final List<Integer> reachable = new ArrayList<>(); // no part of the log, maybe written to

  private ReplicaRecovery(
      LogZone zone,
      LogIdentity identity,
      Crc32cScratch crc,
      SegmentScanner scanner,
      BooleanSupplier writersAreGone)
      throws TakoException {
    this.zone = zone;
    this.identity = identity;
    this.crc = crc;
    this.scanner = scanner;
    this.writersAreGone = writersAreGone;
    this.promise = Promise.read(zone, identity.logId(), crc);
    this.headers = new SegmentHeader[zone.slotCount()];
    this.pool = new SlotPool(zone, identity, headers, crc);
  }

  /**
   * @param writersAreGone whether no former leader can store to the memory any more
   * @throws TakoException CORRUPT when the memory is damaged: the member must not vote; BUSY when
   *     it has to be done again once no former leader can store any more
   */
  static ReplicaRecovery run(
      LogZone zone,
      LogIdentity identity,
      Crc32cScratch crc,
      SegmentScanner scanner,
      BooleanSupplier writersAreGone)
      throws TakoException {
    ReplicaRecovery recovery = new ReplicaRecovery(zone, identity, crc, scanner, writersAreGone);
    recovery.recover();
    return recovery;
  }

  Promise promise() {
    return promise;
  }

  Chain chain() {
    return chain;
  }

  SlotPool pool() {
    return pool;
  }

  private void recover() throws TakoException {
    if (promise.writeSequence() > 0) {
      promise.write(zone, identity.logId(), crc); // both copies say the same before it is acted on
    }
    List<Integer> parts = new ArrayList<>();
    List<Integer> granted = new ArrayList<>();
    for (int slot = 0; slot < headers.length; slot++) {
      SegmentHeader header = SegmentHeader.read(zone.slot(slot), crc);
      if (header == null || (!header.isNeverUsed() && header.logId() != identity.logId())) {
        throw corrupt("the headers of slot " + slot + " are damaged or of another log");
      }
      headers[slot] = header;
      if (header.state() == SegmentState.FREE) {
        pool.add(slot);
      } else if (!isPart(header)) {
        reachable.add(slot);
      } else if (header.state() == SegmentState.GRANTED) {
        granted.add(slot);
      } else {
        parts.add(slot);
      }
    }
    parts.sort(Comparator.comparingLong(slot -> headers[slot].segmentSequence()));
    granted.sort(Comparator.comparingLong(slot -> headers[slot].segmentSequence()));
    for (int slot : parts) {
      addPart(slot);
    }
    for (int slot : granted) {
      addGranted(slot);
    }
    keepCommitted();
    closeTail();
    pool.rest(reachable, writersAreGone);
  }

  /** Whether what the slot holds belongs to the log that the promise speaks of. */
  private boolean isPart(SegmentHeader header) {
    if (header.segmentSequence() == 0 || header.segmentSequence() < promise.oldestSequence()) {
      return false;
    }
    return header.segmentSequence() >= promise.adoptedSequence()
        ? header.grant() == promise.adoptedGrant()
        : header.state() != SegmentState.GRANTED && header.grant() < promise.adoptedGrant();
  }

  private void addPart(int slot) throws TakoException {
    SegmentHeader header = headers[slot];
    Segment tail = chain.tail();
    if (tail != null && tail.header().isSameSegment(header)) {
      reachable.add(slot); // it was being copied when the process ended
      return;
    }
    if (tail != null && (tail.isOpen() || !follows(header, tail))) {
      throw corrupt("segment " + header.segmentSequence() + " does not follow the one before it");
    }
    SegmentScanner.Result result;
    if (header.state() == SegmentState.OPEN) {
      int marked = CommitMark.read(zone.slot(slot), header.segmentSequence(), crc);
      if (marked == CommitMark.UNREADABLE) {
        throw corrupt("both marks of segment " + header.segmentSequence() + " are damaged");
      }
      int home = isolate(slot);
      result = scanner.scan(zone.slot(home), header, chain.lastTerm(), marked, zone.segmentSize());
      if (result.end() == End.CORRUPT) {
        throw corrupt(result.reason());
      }
      chain.add(Segment.recovered(zone, home, headers[home], result));
      return;
    }
    int sealed = header.sealedLength();
    result = scanner.scan(zone.slot(slot), header, chain.lastTerm(), sealed, sealed);
    if (result.end() == End.CORRUPT || result.chain() != header.sealedChain()) {
      throw corrupt(
          "segment "
              + header.segmentSequence()
              + " is not what it was when it was closed: "
              + result.reason());
    }
    chain.add(Segment.recovered(zone, slot, header, result));
  }

  private static boolean follows(SegmentHeader header, Segment tail) {
    return header.follows(tail.header().segmentSequence(), tail.lastIndex(), tail.chain());
  }

  /** A slot that the leader may have begun, after the last segment that this member knew of. */
  private void addGranted(int slot) throws TakoException {
    Segment tail = chain.tail();
    if (tail == null || headers[slot].segmentSequence() != tail.header().segmentSequence() + 1) {
      later.add(slot);
      reachable.add(slot);
      return;
    }
    int home = isolate(slot);
    SegmentHeader header =
        headers[home].holding(
            tail.header().following(tail.lastIndex(), tail.chain(), headers[slot].term()),
            identity.incarnation(),
            promise.adoptedGrant());
    Segment next = Segment.arriving(zone, home, header, tail.lastTerm(), scanner);
    next.extend(scanner);
    if (next.isEmpty()) {
      later.add(home);
      reachable.add(home);
      return;
    }
    if (tail.isOpen()) {
      seal(tail);
    }
    headers[home] = header;
    next.writeHeader(crc);
    chain.add(next);
  }

  /** The slot, or one with the same bytes to which no former leader stores. */
  private int isolate(int slot) throws TakoException {
    if (writersAreGone.getAsBoolean()) {
      return slot;
    }
    Integer target = pool.takeToOverwrite();
    if (target == null) {
      throw new TakoException(
          Status.BUSY,
          "former leaders may still store to log "
              + identity.logId()
              + " of this member, and no slot is free for a copy; open it again later");
    }
    zone.copy(slot, target);
    headers[target] = headers[slot].movedTo(headers[target]);
    CommitMark.copy(zone, slot, target);
    headers[target].write(zone, target, crc);
    pool.grant(slot, headers[slot].grant(), 0, headers[slot].term()); // no part of the log now
    reachable.add(slot);
    return target;
  }

  /** Keeps the index that frames beyond the log's end name committed, before those are given up. */
  private void keepCommitted() {
    Segment tail = chain.tail();
    if (tail == null) {
      return;
    }
    long term = promise.acceptedTerm();
    long committed = new FramesBeyond(zone, scanner).committed(tail, later, term);
    Promise knowing = promise.knowing(committed, 0);
    if (knowing.knowsMoreThan(promise, chain.lastIndex())) {
      knowing.write(zone, identity.logId(), crc);
      promise = knowing;
    }
  }

  private void closeTail() {
    Segment tail = chain.tail();
    if (tail == null || !tail.isOpen()) {
      return;
    }
    if (tail.isEmpty() && chain.segments().size() > 1) {
      chain.cutFrom(tail.header().segmentSequence());
      reachable.add(tail.slot());
    } else {
      seal(tail);
    }
  }

  private void seal(Segment segment) {
    segment.seal(crc);
    headers[segment.slot()] = segment.header();
  }

  private TakoException corrupt(String what) {
    return new TakoException(
        Status.CORRUPT,
        "log "
            + identity.logId()
            + " of this member is damaged: "
            + what
            + "; the member takes no part in elections until it is replaced");
  }
}
