package io.takofs.server.log;

import io.takofs.base.Invariant;
import io.takofs.base.TakoException;
import io.takofs.layout.Layout;
import io.takofs.proto.Status;
import io.takofs.server.segment.Crc32cScratch;
import io.takofs.server.segment.FrameCodec;
import io.takofs.server.segment.LogIdentity;
import io.takofs.server.segment.LogZone;
import io.takofs.server.segment.Segment;
import io.takofs.server.segment.SegmentHeader;
import io.takofs.server.segment.SegmentScanner.End;
import io.takofs.server.segment.SegmentState;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A log with one replica, in the memory of a {@link LogZone}. An entry is committed by {@link
 * #poll}, which makes it persistent first.
 *
 * <p>After a restart the entries above the checkpoint come out of the first {@link #poll}. New ones
 * go to a new segment, never after a torn frame; so each restart with entries takes a segment until
 * a checkpoint and {@link #trim} give the old ones back.
 *
 * <p>When the zone is full, {@link #propose} fails and changes nothing. A checkpoint needs no entry
 * and {@link #trim} keeps at most one segment, so checkpoint and trim always make room again; no
 * reserve is needed.
 *
 * <p>Thread rule: one thread at a time, the owner's.
 */
public final class SegmentedLog implements Log {
  private static final Logger LOG = LoggerFactory.getLogger(SegmentedLog.class);

  private final LogZone zone;
  private final LogIdentity identity;
  private final Crc32cScratch crc = new Crc32cScratch();
  private final FrameCodec codec;
  private final SegmentHeader[] freeHeaders;
  private final ArrayDeque<Integer> freeSlots = new ArrayDeque<>();
  private final List<Segment> segments;
  private final End recoveredEnd;
  private long commitIndex;
  private long deliveredIndex;
  private int readPosition;
  private int readOffset = Layout.SEGMENT_DATA_OFFSET;
  private long term;
  private long appendedBytes;
  private boolean closed;

  /**
   * Opens the log in {@code zone}; a zone of zeros becomes an empty log.
   *
   * @param checkpointIndex entries up to here are applied and not delivered again
   * @throws TakoException with status CORRUPT when the log is damaged or does not continue the
   *     checkpoint; the zone is unchanged then
   */
  public static SegmentedLog open(LogZone zone, LogIdentity identity, long checkpointIndex)
      throws TakoException {
    return new SegmentedLog(zone, identity, checkpointIndex, new FrameCodec());
  }

  SegmentedLog(LogZone zone, LogIdentity identity, long checkpointIndex, FrameCodec codec)
      throws TakoException {
    this.codec = codec;
    this.zone = zone;
    this.identity = identity;
    LogRecovery recovery = LogRecovery.run(zone, identity.logId(), checkpointIndex, crc, codec);
    this.segments = new ArrayList<>(recovery.segments());
    this.freeHeaders = recovery.headers();
    this.recoveredEnd = recovery.tail() == null ? End.CLEAN_END : recovery.tail().end();
    if (recoveredEnd == End.TORN_END) {
      LOG.info("log {}: ends before {}", identity.logId(), recovery.tail().reason());
    }
    adoptFreeSlots();
    closeTail();
    for (Segment segment : segments) {
      appendedBytes += segment.length() - Layout.SEGMENT_DATA_OFFSET;
    }
    this.commitIndex = lastIndex();
    seekAfter(checkpointIndex);
  }

  @Override
  public void lead(long newTerm) throws TakoException {
    Invariant.check(!closed, "the log is open");
    Invariant.check(newTerm >= 1, "terms begin at 1");
    Segment tail = tail();
    long last = tail == null ? 0 : tail.header().term();
    if (newTerm < last) {
      throw new TakoException(
          Status.STALE_TERM,
          ("the log has segments of term %d, and this server is to lead in term %d: the catalog, or"
                  + " the list of servers, is older than the pool; start the server as the member"
                  + " of the cluster that it was last, with that cluster's catalog")
              .formatted(last, newTerm));
    }
    term = newTerm;
    if (tail == null || !tail.isOpen() || newTerm == last) {
      return;
    }
    // A segment has one writer.
    if (tail.lastIndex() >= tail.header().baseIndex()) {
      tail.seal(crc);
    } else {
      reopenTail(newTerm);
    }
  }

  @Override
  public long term() {
    return term;
  }

  @Override
  public long propose(ByteBuffer payload) throws TakoException {
    Invariant.check(!closed, "the log is open");
    Invariant.check(term != 0, "a leader proposes");
    int length = payload.remaining();
    if (length < 1 || length > payloadMax()) {
      throw new TakoException(
          Status.INVALID_ARGUMENT,
          "a log entry of " + length + " bytes; 1 to " + payloadMax() + " are possible");
    }
    Segment tail = tail();
    if (tail == null || !tail.isOpen() || !tail.hasRoom(length)) {
      tail = roll();
    }
    appendedBytes += tail.append(codec, commitIndex, payload);
    return tail.lastIndex();
  }

  @Override
  public int poll(CommitHandler handler) {
    Invariant.check(!closed, "the log is open");
    Segment tail = tail();
    if (tail == null) {
      return 0;
    }
    if (tail.isOpen()) {
      tail.commit(crc);
    }
    commitIndex = tail.lastIndex();
    long end = commitIndex;
    int count = 0;
    while (deliveredIndex < end) {
      Segment segment = segments.get(readPosition);
      if (deliveredIndex == segment.lastIndex()) {
        readPosition++;
        readOffset = Layout.SEGMENT_DATA_OFFSET;
      } else {
        handler.onCommit(
            deliveredIndex + 1, segment.entryTerm(readOffset), segment.payload(readOffset));
        readOffset = segment.next(readOffset);
        deliveredIndex++;
        count++;
      }
    }
    return count;
  }

  @Override
  public long lastIndex() {
    Segment tail = tail();
    return tail == null ? 0 : tail.lastIndex();
  }

  @Override
  public long commitIndex() {
    return commitIndex;
  }

  @Override
  public long appendedBytes() {
    return appendedBytes;
  }

  @Override
  public int segmentCount() {
    return segments.size();
  }

  @Override
  public int freeSegmentCount() {
    return freeSlots.size();
  }

  /** Frees oldest segments first, so that a crash between two leaves a shorter, whole chain. */
  @Override
  public void trim(long index) {
    Invariant.check(!closed, "the log is open");
    Invariant.check(index <= deliveredIndex, "only applied entries are in a checkpoint");
    while (segments.size() > 1 && segments.get(0).lastIndex() <= index) {
      Segment segment = segments.remove(0);
      segment.free(crc);
      freeHeaders[segment.slot()] = segment.header();
      freeSlots.add(segment.slot());
      if (readPosition == 0) {
        readOffset = Layout.SEGMENT_DATA_OFFSET;
      } else {
        readPosition--;
      }
    }
  }

  @Override
  public void close() {
    closed = true;
  }

  /** The end of the log that the recovery found. */
  End recoveredEnd() {
    return recoveredEnd;
  }

  private int payloadMax() {
    return Math.min(
        Layout.FRAME_PAYLOAD_MAX,
        (zone.segmentSize() - Layout.SEGMENT_DATA_OFFSET - FrameCodec.OVERHEAD)
            & -Layout.FRAME_ALIGN);
  }

  private Segment tail() {
    return segments.isEmpty() ? null : segments.get(segments.size() - 1);
  }

  /** Seals the tail, if it is open, and continues in a free slot. */
  private Segment roll() throws TakoException {
    Integer slot = freeSlots.poll();
    if (slot == null) {
      throw new TakoException(
          Status.NO_SPACE,
          "all "
              + zone.slotCount()
              + " segments of the log hold entries above the last checkpoint");
    }
    Segment tail = tail();
    if (tail != null && tail.isOpen()) {
      tail.seal(crc);
    }
    Segment segment = Segment.open(zone, slot, nextHeader(slot, tail), crc);
    segments.add(segment);
    return segment;
  }

  private SegmentHeader nextHeader(int slot, Segment tail) {
    return new SegmentHeader(
        SegmentState.OPEN,
        identity.logId(),
        identity.incarnation(),
        tail == null ? 1 : tail.header().segmentSequence() + 1,
        term,
        tail == null ? 1 : tail.lastIndex() + 1,
        tail == null ? 0 : tail.chain(),
        0,
        0,
        0,
        freeHeaders[slot].writeSequence() + 1);
  }

  /** A crash may have come before a freed slot was zeroed. */
  private void adoptFreeSlots() {
    for (int slot = 0; slot < freeHeaders.length; slot++) {
      if (freeHeaders[slot].state() == SegmentState.FREE) {
        Segment.zero(zone, slot);
        freeSlots.add(slot);
      }
    }
  }

  /**
   * Nothing is ever written after frames that an earlier incarnation may have left: a tail with
   * frames is sealed where they end, one without is emptied and used.
   */
  private void closeTail() {
    Segment tail = tail();
    if (tail == null || !tail.isOpen()) {
      return;
    }
    if (tail.lastIndex() >= tail.header().baseIndex()) {
      tail.seal(crc);
    } else {
      Segment.zero(zone, tail.slot());
      reopenTail(tail.header().term());
    }
  }

  /** The tail, which has no frames, is written by this incarnation in {@code newTerm}. */
  private void reopenTail(long newTerm) {
    Segment tail = tail();
    SegmentHeader header = tail.header().adopted(identity.incarnation(), newTerm);
    segments.set(segments.size() - 1, Segment.open(zone, tail.slot(), header, crc));
  }

  private void seekAfter(long checkpointIndex) {
    deliveredIndex = checkpointIndex;
    while (readPosition < segments.size() - 1
        && segments.get(readPosition).lastIndex() <= checkpointIndex) {
      readPosition++;
    }
    if (!segments.isEmpty()) {
      Segment segment = segments.get(readPosition);
      for (long i = segment.header().baseIndex(); i <= checkpointIndex; i++) {
        readOffset = segment.next(readOffset);
      }
    }
  }
}
