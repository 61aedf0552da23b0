package io.takofs.server.segment;

import io.takofs.base.Invariant;
import io.takofs.layout.Layout;
import io.takofs.server.segment.SegmentScanner.End;
import io.takofs.server.segment.SegmentScanner.Result;
import java.nio.ByteBuffer;

/**
 * One segment in its slot: its header, where its valid frames end, and how to add one.
 *
 * <p>Thread rule: one thread at a time, that which has the log.
 */
public final class Segment {
  private final LogZone zone;
  private final int slot;
  private final ByteBuffer memory;
  private final ByteBuffer view;
  private final ByteBuffer reader;
  private SegmentHeader header;
  private int length;
  private int persistedLength;
  private long lastIndex;
  private long lastTerm;
  private long commitIndex;
  private int chain;
  private long soughtIndex; // where the last look for an index ended, since the next is after it
  private int soughtOffset;

  private Segment(LogZone zone, int slot, SegmentHeader header, Result scan) {
    this.zone = zone;
    this.slot = slot;
    this.memory = zone.slot(slot);
    this.view = memory.duplicate();
    this.reader = memory.asReadOnlyBuffer();
    this.header = header;
    this.persistedLength = Layout.SEGMENT_DATA_OFFSET;
    take(scan);
  }

  /** The frames that are known, as a scan would tell of them. */
  Result known() {
    return new Result(End.CLEAN_END, length, lastIndex, lastTerm, commitIndex, chain, "");
  }

  private void take(Result scan) {
    length = scan.length();
    lastIndex = scan.lastIndex();
    lastTerm = scan.lastTerm();
    commitIndex = scan.commitIndex();
    chain = scan.chain();
  }

  /**
   * A segment that recovery found. Its frames may be in the memory only, and not yet persistent:
   * the process may have died and not the machine.
   */
  public static Segment recovered(LogZone zone, int slot, SegmentHeader header, Result scan) {
    return new Segment(zone, slot, header, scan);
  }

  /**
   * A segment that another process writes to the slot, of which no frame was looked at yet.
   *
   * @param previousTerm of the entry before it; 0 for none
   */
  public static Segment arriving(
      LogZone zone, int slot, SegmentHeader header, long previousTerm, SegmentScanner scanner) {
    return new Segment(zone, slot, header, scanner.beginning(header, previousTerm));
  }

  /**
   * Makes a slot whose data bytes are zero the home of a new segment. It is part of the chain once
   * the first copy of the header is whole.
   */
  public static Segment open(LogZone zone, int slot, SegmentHeader header, Crc32cScratch crc) {
    CommitMark.write(zone, slot, header.segmentSequence(), Layout.SEGMENT_DATA_OFFSET, crc);
    header.write(zone, slot, crc);
    Result none =
        new Result(
            End.CLEAN_END,
            Layout.SEGMENT_DATA_OFFSET,
            header.baseIndex() - 1,
            0,
            0,
            crc.ofSegment(header),
            "");
    return new Segment(zone, slot, header, none);
  }

  /** The slot that it is in. */
  public int slot() {
    return slot;
  }

  /** Returns the header as it is in the slot. */
  public SegmentHeader header() {
    return header;
  }

  /** Bytes up to the end of the last frame. */
  public int length() {
    return length;
  }

  /** Index of its last frame; one less than the base index when there is none. */
  public long lastIndex() {
    return lastIndex;
  }

  /** Term of the last entry; of the one before the segment when it has none. */
  public long lastTerm() {
    return lastTerm;
  }

  /** The highest index that a frame here says is committed. */
  long commitIndex() {
    return commitIndex;
  }

  /**
   * The chain after its last frame; where it has none, that after the entry before it: with that
   * the next segment begins, which says so which entries come before it, and not which segments.
   */
  public int chain() {
    return isEmpty() ? header.baseChain() : chain;
  }

  /** The chain after the frame with {@code index}, which is here. */
  int chainAfter(long index) {
    return index == lastIndex ? chain : FrameCodec.chainBefore(memory, offsetOf(index + 1));
  }

  /** Whether it has no frame. */
  public boolean isEmpty() {
    return lastIndex < header.baseIndex();
  }

  /** Whether frames may follow. */
  public boolean isOpen() {
    return header.state() == SegmentState.OPEN;
  }

  /** Whether a frame with a payload of that many bytes fits. */
  public boolean hasRoom(int payloadLength) {
    return FrameCodec.frameSize(payloadLength) <= memory.capacity() - length;
  }

  /** Adds one frame with an entry; returns the bytes it takes. */
  public int append(FrameCodec codec, long committed, ByteBuffer payload) {
    return append(codec, FrameCodec.ENTRY, committed, payload);
  }

  /**
   * Adds one frame; returns the bytes it takes.
   *
   * @param type ENTRY or NOOP
   */
  public int append(FrameCodec codec, byte type, long committed, ByteBuffer payload) {
    Invariant.check(isOpen(), "frames are appended to an open segment");
    int size = FrameCodec.frameSize(payload.remaining());
    chain =
        codec.write(
            memory,
            view,
            length,
            chain,
            (short) header.term(),
            lastIndex + 1,
            committed,
            (int) header.term(),
            type,
            payload);
    length += size;
    lastIndex++;
    lastTerm = header.term();
    commitIndex = committed;
    return size;
  }

  /** Takes in the frames that another process has finished here meanwhile. */
  public Result extend(SegmentScanner scanner) {
    Result result = scanner.scan(memory, header, known(), length, memory.capacity());
    take(result);
    return result;
  }

  /** Whether something was written after the last frame: one that is not whole, or not yet. */
  boolean isUnfinished() {
    return memory.capacity() - length >= FrameCodec.OVERHEAD && memory.getLong(length) != 0;
  }

  /** The same segment in another slot, to which all its bytes were copied. */
  public Segment movedTo(int target, SegmentHeader targetHeader) {
    return new Segment(zone, target, targetHeader, known());
  }

  /** Makes the header that the segment has in memory that of its slot. */
  public void writeHeader(Crc32cScratch crc) {
    zone.persist(slot, Layout.SEGMENT_DATA_OFFSET, length - Layout.SEGMENT_DATA_OFFSET);
    persistedLength = length;
    CommitMark.write(zone, slot, header.segmentSequence(), length, crc);
    header.write(zone, slot, crc);
  }

  /** Whether the frame at {@code offset} has an entry, which is to be applied. */
  public boolean isEntry(int offset) {
    return FrameCodec.type(memory, offset) == FrameCodec.ENTRY;
  }

  /** Makes all frames persistent, then marks them committed. */
  public void commit(Crc32cScratch crc) {
    if (persistedLength == length) {
      return;
    }
    zone.persist(slot, persistedLength, length - persistedLength);
    persistedLength = length;
    CommitMark.write(zone, slot, header.segmentSequence(), length, crc);
  }

  /** Fixes length and chain for ever. */
  public void seal(Crc32cScratch crc) {
    commit(crc);
    header = header.sealed(length, chain);
    header.write(zone, slot, crc);
  }

  /** Gives the slot up and zeroes its data. */
  public void free(Crc32cScratch crc) {
    header = header.freed();
    header.write(zone, slot, crc);
    zero(zone, slot);
  }

  /** The offset of the frame with {@code index}, which is here. */
  public int offsetOf(long index) {
    if (soughtIndex < header.baseIndex() || soughtIndex > index) {
      soughtIndex = header.baseIndex();
      soughtOffset = Layout.SEGMENT_DATA_OFFSET;
    }
    while (soughtIndex < index) {
      soughtOffset = next(soughtOffset);
      soughtIndex++;
    }
    return soughtOffset;
  }

  /** The term in which the entry of the frame at {@code offset} was first proposed. */
  public long entryTerm(int offset) {
    return FrameCodec.entryTerm(memory, offset, header.term());
  }

  /** The payload of the frame at {@code offset}: a view that the next call changes. */
  public ByteBuffer payload(int offset) {
    int body = offset + Layout.FRAME_HEADER_SIZE;
    return reader.limit(body + FrameCodec.length(memory, offset)).position(body);
  }

  /** The offset of the frame after the one at {@code offset}; the end when that is damaged. */
  public int next(int offset) {
    int bytes = offset < length ? FrameCodec.length(memory, offset) : 0;
    return bytes <= 0 || bytes > length - offset ? length : offset + FrameCodec.frameSize(bytes);
  }

  /**
   * Looks once more at a frame that was whole: its bits may have changed since.
   *
   * @return null when it is still whole, else what is wrong with it
   */
  public String check(SegmentScanner scanner, int offset, long index) {
    return scanner.check(memory, header, offset, length, index);
  }

  /** Zeroes where frames go. */
  public static void zero(LogZone zone, int slot) {
    zone.zero(slot, Layout.SEGMENT_DATA_OFFSET, zone.segmentSize() - Layout.SEGMENT_DATA_OFFSET);
  }
}
