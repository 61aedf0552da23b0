package io.takofs.server.log;

import io.takofs.base.Invariant;
import io.takofs.layout.Layout;
import io.takofs.proto.LogGrant;
import io.takofs.proto.LogSlot;
import io.takofs.server.segment.Chain;
import io.takofs.server.segment.Crc32cScratch;
import io.takofs.server.segment.Segment;
import io.takofs.transport.CompletionStatus;
import io.takofs.transport.MemoryRegion;
import io.takofs.transport.QueuePair;
import io.takofs.transport.ScatterGather;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;

/**
 * The writes of a leader to one member under one grant: the bytes of its own segments, to the same
 * places there. What is appended while a write is under way is the next write.
 *
 * <p>What has been written counts by the completions of this grant's connection alone, and only as
 * far as they follow one another without a gap; after one that failed nothing counts any more. The
 * leader looks at each frame again when the transport has read it: bits of it that had changed by
 * then are wrong at the member, too, which finds no entry there and none after it.
 *
 * <p>Thread rule: the holder of the replica's monitor.
 */
final class FollowerStream {
  /** Sends under way at most: writes of frames, and one heartbeat. */
  static final int SENDS_MAX = 8;

  private static final int WRITES_MAX = SENDS_MAX - 1;

  /** Bytes of one write at most. */
  private static final int WRITE_BYTES_MAX = 1 << 20;

  private final int server;
  private final Chain chain;
  private final FrameCheck check;
  private final Crc32cScratch crc = new Crc32cScratch();
  private final LogTransport via;
  private final QueuePair pair;
  private final LogGrant grant;
  private final List<LogSlot> slots;
  private final long firstSequence;
  private final ScatterGather piece = new ScatterGather();
  private final ArrayDeque<Sent> underWay = new ArrayDeque<>();
  private long lastId;
  private long sequence;
  private int offset = Layout.SEGMENT_DATA_OFFSET;
  private long sentIndex;
  private long writtenIndex;
  private long writtenSequence; // where the frame after writtenIndex is, or the end before it
  private int writtenOffset = Layout.SEGMENT_DATA_OFFSET;
  private long beatSent;
  private long beatWritten;
  private long beatWrittenNs; // when that one was about to be sent
  private boolean adopted;
  private boolean stateful;
  private boolean failed;

  /**
   * A send that has not completed.
   *
   * @param index entries up to here are there when it has completed
   * @param beat number of the heartbeat; 0 for a write of frames
   * @param ns by the leader's clock, before it was sent; of a heartbeat
   */
  private record Sent(long id, long index, long beat, long ns) {}

  /** Whether a frame of the leader, which was whole, still is. */
  @FunctionalInterface
  interface FrameCheck {
    boolean isStillWhole(Segment segment, int offset, long index);
  }

  /**
   * @param via the transport of {@code pair}
   * @param firstSequence of the first segment to be written, which the chain has
   */
  FollowerStream(
      int server,
      Chain chain,
      FrameCheck check,
      LogTransport via,
      QueuePair pair,
      LogGrant grant,
      long firstSequence) {
    this.server = server;
    this.chain = chain;
    this.check = check;
    this.via = via;
    this.pair = pair;
    this.grant = grant;
    this.slots = new ArrayList<>(grant.getSlotsList());
    this.firstSequence = firstSequence;
    this.sequence = firstSequence;
    this.writtenSequence = firstSequence;
    // Entries before it are there, or in a checkpoint: the segment before may be gone here.
    this.sentIndex = chain.get(firstSequence).header().baseIndex() - 1;
    this.writtenIndex = sentIndex;
  }

  int server() {
    return server;
  }

  QueuePair pair() {
    return pair;
  }

  long grant() {
    return grant.getGrant();
  }

  long firstSequence() {
    return firstSequence;
  }

  boolean isAdopted() {
    return adopted;
  }

  /** The member has made what is written here the newest part of its log. */
  void setAdopted() {
    adopted = true;
  }

  /** The member has a state, too, which its log continues. */
  void setStateful() {
    stateful = true;
  }

  /**
   * Whether the member has what is written to it, and all before that: the leader's log, and a
   * state which that continues.
   */
  boolean counts() {
    return adopted && stateful;
  }

  /** Whether nothing that is written from now on counts. */
  boolean hasFailed() {
    return failed || pair.state() != QueuePair.State.CONNECTED;
  }

  /** The leader gives up what the member still lacks, which comes back by a new grant. */
  void giveUp() {
    failed = true;
    pair.close();
  }

  /** Entries up to here may be given up by the leader: the stream needs none of them. */
  long neededAfter() {
    Segment first = chain.get(firstSequence);
    return adopted || first == null ? writtenIndex : first.header().baseIndex() - 1;
  }

  /** Entries up to here are in the member's memory, whether they are a part of its log or not. */
  long writtenIndex() {
    return writtenIndex;
  }

  /** The newest heartbeat that was sent. */
  long beatSent() {
    return beatSent;
  }

  /** The newest heartbeat that is known to have been written. */
  long beatWritten() {
    return beatWritten;
  }

  /**
   * Whether the member lets nobody else in, at {@code nowNs}, because of a heartbeat that it has
   * taken.
   */
  boolean isHeld(long nowNs, LogTimes times) {
    return beatWritten != 0 && nowNs - beatWrittenNs < times.leaseNs(grant.getHoldNs());
  }

  /** Slots that were given so far. */
  int slotCount() {
    return slots.size();
  }

  /** Whether few slots are left for the segments to come. */
  boolean wantsSlots() {
    return sequence - firstSequence + 1 >= slots.size();
  }

  /** Segments from the first one to that of the entry {@code index}: each needs a slot. */
  int segmentsTo(long index) {
    int place = Math.min(chain.placeOf(index), chain.segments().size() - 1);
    long last = chain.segments().get(place).header().segmentSequence();
    return (int) Math.max(last - firstSequence, 0) + 1;
  }

  void addSlots(List<LogSlot> more) {
    slots.addAll(more);
  }

  /** Writes what the leader has and the member has not, as far as sends and slots go. */
  void send() {
    boolean staged = false;
    while (!hasFailed() && underWay.size() < WRITES_MAX && stageWrite()) {
      staged = true;
    }
    if (staged) {
      pair.ring();
    }
  }

  private boolean stageWrite() {
    Segment segment = chain.get(sequence);
    // A checkpoint may have taken a segment after all of it was written.
    while (segment == null && sequence < chain.nextSequence()) {
      segment = chain.get(++sequence);
      offset = Layout.SEGMENT_DATA_OFFSET;
    }
    while (segment != null && offset == segment.length() && segment != chain.tail()) {
      segment = chain.get(++sequence);
      offset = Layout.SEGMENT_DATA_OFFSET;
    }
    int place = (int) (sequence - firstSequence);
    if (segment == null || offset == segment.length() || place >= slots.size()) {
      return false;
    }
    int bytes = Math.min(segment.length() - offset, WRITE_BYTES_MAX);
    int from = offset - Layout.SEGMENT_DATA_OFFSET;
    LogSlot slot = slots.get(place);
    offset += bytes;
    if (offset == segment.length()) {
      sentIndex = segment.lastIndex();
    }
    piece.clear().add(via.memory().slots().get(segment.slot()), from, bytes);
    pair.write(++lastId, piece, slot.getAddress() + from, slot.getRkey(), QueuePair.SIGNALED);
    underWay.add(new Sent(lastId, sentIndex, 0, 0));
    return true;
  }

  /**
   * Writes heartbeat {@code beat}, unless one is under way; returns whether it did.
   *
   * @param nowNs by the leader's clock, or a little earlier
   */
  boolean beat(long beat, long term, long commitIndex, long nowNs) {
    if (hasFailed() || beatSent != beatWritten || underWay.size() >= SENDS_MAX) {
      return false;
    }
    int at = (int) (beat % SENDS_MAX) * Layout.HEARTBEAT_SIZE;
    MemoryRegion beats = via.beatsTo(server);
    ByteBuffer record = beats.buffer();
    HeartbeatRecord.write(record, at, term, beat, commitIndex, writtenIndex, crc);
    piece.clear().add(beats, at, Layout.HEARTBEAT_SIZE);
    pair.write(
        ++lastId, piece, grant.getHeartbeatAddress(), grant.getHeartbeatRkey(), QueuePair.SIGNALED);
    pair.ring();
    underWay.add(new Sent(lastId, 0, beat, nowNs));
    beatSent = beat;
    return true;
  }

  /** A send has completed, in the order of sending. */
  void onCompletion(long id, CompletionStatus status) {
    if (failed) {
      return;
    }
    if (status != CompletionStatus.SUCCESS) {
      failed = true;
      return;
    }
    Sent sent = underWay.remove();
    Invariant.check(sent.id == id, "sends complete in order");
    if (sent.beat == 0) {
      count(sent.index);
    } else {
      beatWritten = sent.beat;
      beatWrittenNs = sent.ns;
    }
  }

  /** Counts what has been written up to {@code index}, as far as it is still whole here. */
  private void count(long index) {
    while (writtenIndex < index) {
      Segment segment = chain.get(writtenSequence);
      if (segment == null || segment.lastIndex() == writtenIndex) {
        Invariant.check(writtenSequence < chain.nextSequence(), "what was written is in the chain");
        writtenSequence++; // its entries count already: a checkpoint may have taken it since
        writtenOffset = Layout.SEGMENT_DATA_OFFSET;
      } else if (isGap(segment)) {
        failed = true; // given up here when the connection had ended
        return;
      } else if (check.isStillWhole(segment, writtenOffset, writtenIndex + 1)) {
        writtenOffset = segment.next(writtenOffset);
        writtenIndex++;
      } else {
        failed = true;
        return;
      }
    }
  }

  /** Whether entries before {@code segment} are missing, which comes next. */
  private boolean isGap(Segment segment) {
    return writtenOffset == Layout.SEGMENT_DATA_OFFSET
        && segment.header().baseIndex() != writtenIndex + 1;
  }
}
