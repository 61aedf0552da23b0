package io.takofs.server.log;

import io.takofs.base.Invariant;
import io.takofs.layout.Layout;
import java.nio.ByteBuffer;

/**
 * One segment in its slot: its header, where its valid frames end, and how to add one.
 *
 * <p>Thread rule: the log owner's thread.
 */
final class Segment {
  private final LogZone zone;
  private final int slot;
  private final ByteBuffer memory;
  private final ByteBuffer view;
  private final ByteBuffer reader;
  private SegmentHeader header;
  private int length;
  private int persistedLength;
  private long lastIndex;
  private int chain;

  private Segment(
      LogZone zone, int slot, SegmentHeader header, int length, long lastIndex, int chain) {
    this.zone = zone;
    this.slot = slot;
    this.memory = zone.slot(slot);
    this.view = memory.duplicate();
    this.reader = memory.asReadOnlyBuffer();
    this.header = header;
    this.length = length;
    this.persistedLength = Layout.SEGMENT_DATA_OFFSET;
    this.lastIndex = lastIndex;
    this.chain = chain;
  }

  /**
   * A segment that recovery found. Its frames may be in the memory only, and not yet persistent:
   * the process may have died and not the machine.
   */
  static Segment recovered(
      LogZone zone, int slot, SegmentHeader header, SegmentScanner.Result scan) {
    return new Segment(zone, slot, header, scan.length(), scan.lastIndex(), scan.chain());
  }

  /**
   * Makes a slot whose data bytes are zero the home of a new segment. It is part of the chain once
   * the first copy of the header is whole.
   */
  static Segment open(LogZone zone, int slot, SegmentHeader header, Crc32cScratch crc) {
    CommitMark.write(zone, slot, header.segmentSequence(), Layout.SEGMENT_DATA_OFFSET, crc);
    header.write(zone, slot, crc);
    return new Segment(
        zone,
        slot,
        header,
        Layout.SEGMENT_DATA_OFFSET,
        header.baseIndex() - 1,
        crc.ofSegment(header));
  }

  int slot() {
    return slot;
  }

  SegmentHeader header() {
    return header;
  }

  /** Bytes up to the end of the last frame. */
  int length() {
    return length;
  }

  long lastIndex() {
    return lastIndex;
  }

  int chain() {
    return chain;
  }

  boolean isOpen() {
    return header.state() == SegmentState.OPEN;
  }

  boolean hasRoom(int payloadLength) {
    return FrameCodec.frameSize(payloadLength) <= memory.capacity() - length;
  }

  /** Adds one frame; returns the bytes it takes. */
  int append(FrameCodec codec, long commitIndex, ByteBuffer payload) {
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
            commitIndex,
            (int) header.term(),
            payload);
    length += size;
    lastIndex++;
    return size;
  }

  /** Makes all frames persistent, then marks them committed. */
  void commit(Crc32cScratch crc) {
    if (persistedLength == length) {
      return;
    }
    zone.persist(slot, persistedLength, length - persistedLength);
    persistedLength = length;
    CommitMark.write(zone, slot, header.segmentSequence(), length, crc);
  }

  /** Fixes length and chain for ever. */
  void seal(Crc32cScratch crc) {
    commit(crc);
    header = header.sealed(length, chain);
    header.write(zone, slot, crc);
  }

  /** Gives the slot up and zeroes its data. */
  void free(Crc32cScratch crc) {
    header = header.freed();
    header.write(zone, slot, crc);
    zero(zone, slot);
  }

  /** The term in which the entry of the frame at {@code offset} was first proposed. */
  long entryTerm(int offset) {
    return FrameCodec.entryTerm(memory, offset, header.term());
  }

  /** The payload of the frame at {@code offset}: a view that the next call changes. */
  ByteBuffer payload(int offset) {
    int body = offset + Layout.FRAME_HEADER_SIZE;
    return reader.limit(body + FrameCodec.length(memory, offset)).position(body);
  }

  /** The offset of the frame after the one at {@code offset}. */
  int next(int offset) {
    return offset + FrameCodec.frameSize(FrameCodec.length(memory, offset));
  }

  /** Zeroes where frames go. */
  static void zero(LogZone zone, int slot) {
    ByteBuffer memory = zone.slot(slot);
    for (int i = Layout.SEGMENT_DATA_OFFSET; i < memory.capacity(); i += Long.BYTES) {
      memory.putLong(i, 0);
    }
    zone.persist(slot, Layout.SEGMENT_DATA_OFFSET, memory.capacity() - Layout.SEGMENT_DATA_OFFSET);
  }
}
