package io.takofs.server.log;

import io.takofs.base.TakoException;
import io.takofs.layout.Layout;
import io.takofs.proto.Status;
import io.takofs.server.segment.CommitMark;
import io.takofs.server.segment.Crc32cScratch;
import io.takofs.server.segment.FrameCodec;
import io.takofs.server.segment.LogZone;
import io.takofs.server.segment.Segment;
import io.takofs.server.segment.SegmentHeader;
import io.takofs.server.segment.SegmentScanner;
import io.takofs.server.segment.SegmentScanner.End;
import io.takofs.server.segment.SegmentState;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * Finds the chain of segments in a zone and proves it whole. Reads only. Anything that is not a
 * gap-free run of valid frames up to what was committed is refused: a log is never shortened to
 * what happens to be readable.
 *
 * <p>Thread rule: one thread.
 */
final class LogRecovery {
  private final LogZone zone;
  private final Crc32cScratch crc;
  private final SegmentScanner scanner;
  private final SegmentHeader[] headers;
  private final List<Segment> segments = new ArrayList<>();
  private SegmentScanner.Result tail;

  private LogRecovery(LogZone zone, Crc32cScratch crc, FrameCodec codec) {
    this.zone = zone;
    this.crc = crc;
    this.scanner = new SegmentScanner(crc, codec);
    this.headers = new SegmentHeader[zone.slotCount()];
  }

  /**
   * Recovers the log {@code logId}.
   *
   * @param checkpointIndex index that the store's checkpoint covers: entries above it are needed
   * @throws TakoException with status CORRUPT, naming the segment, the place and what is wrong
   */
  static LogRecovery run(
      LogZone zone, int logId, long checkpointIndex, Crc32cScratch crc, FrameCodec codec)
      throws TakoException {
    LogRecovery recovery = new LogRecovery(zone, crc, codec);
    List<Integer> chain = recovery.findChain(logId);
    recovery.scanChain(chain);
    recovery.checkCovers(checkpointIndex);
    return recovery;
  }

  /** The newest header of every slot. */
  SegmentHeader[] headers() {
    return headers;
  }

  /** The chain, oldest first. */
  List<Segment> segments() {
    return segments;
  }

  /** The end of the newest segment; null when the log is empty. */
  SegmentScanner.Result tail() {
    return tail;
  }

  private List<Integer> findChain(int logId) throws TakoException {
    List<Integer> slots = new ArrayList<>();
    for (int slot = 0; slot < headers.length; slot++) {
      SegmentHeader header = SegmentHeader.read(zone.slot(slot), crc);
      if (header == null) {
        throw corrupt("both headers of slot " + slot + " of the log zone are damaged");
      }
      headers[slot] = header;
      if (!header.isNeverUsed() && header.logId() != logId) {
        throw corrupt(
            "slot " + slot + " belongs to log " + header.logId() + ", not to log " + logId);
      }
      if (header.state() != SegmentState.FREE) {
        slots.add(slot);
      }
    }
    slots.sort(Comparator.comparingLong(slot -> headers[slot].segmentSequence()));
    return slots;
  }

  private void scanChain(List<Integer> chain) throws TakoException {
    for (int i = 0; i < chain.size(); i++) {
      int slot = chain.get(i);
      SegmentHeader header = headers[slot];
      if (i > 0) {
        checkFollows(segments.get(i - 1), slot);
      }
      tail = scan(slot, header);
      if (tail.end() == End.CORRUPT) {
        throw corrupt(name(slot) + ": " + tail.reason());
      }
      segments.add(Segment.recovered(zone, slot, header, tail));
    }
  }

  private SegmentScanner.Result scan(int slot, SegmentHeader header) throws TakoException {
    if (header.state() == SegmentState.OPEN) {
      int committed = CommitMark.read(zone.slot(slot), header.segmentSequence(), crc);
      if (committed == CommitMark.UNREADABLE) {
        throw corrupt(name(slot) + ": both of its commit marks are damaged");
      }
      return scanner.scan(zone.slot(slot), header, lastTerm(), committed, zone.segmentSize());
    }
    int sealed = header.sealedLength();
    if (sealed < Layout.SEGMENT_DATA_OFFSET || sealed > zone.segmentSize()) {
      throw corrupt(name(slot) + ": a sealed length of " + sealed + " bytes is impossible");
    }
    SegmentScanner.Result result =
        scanner.scan(zone.slot(slot), header, lastTerm(), sealed, sealed);
    if (result.end() != End.CORRUPT && result.chain() != header.sealedChain()) {
      throw corrupt(name(slot) + ": its frames do not lead to the chain value in its header");
    }
    return result;
  }

  /** The term of the last entry found so far; 0 for none. */
  private long lastTerm() {
    return tail == null ? 0 : tail.lastTerm();
  }

  private void checkFollows(Segment previous, int slot) throws TakoException {
    SegmentHeader before = previous.header();
    SegmentHeader header = headers[slot];
    if (before.state() == SegmentState.OPEN
        || header.segmentSequence() != before.segmentSequence() + 1
        || header.baseIndex() != previous.lastIndex() + 1
        || header.baseChain() != previous.chain()) {
      throw corrupt(
          name(slot)
              + " (entries from "
              + header.baseIndex()
              + ") does not follow "
              + name(previous.slot())
              + " ("
              + before.state()
              + ", entries up to "
              + previous.lastIndex()
              + "): a segment between them is missing");
    }
    if (header.term() < before.term()) {
      throw corrupt(
          name(slot)
              + " is of term "
              + header.term()
              + ", and "
              + name(previous.slot())
              + " before it of term "
              + before.term()
              + ": terms never go down");
    }
  }

  private void checkCovers(long checkpointIndex) throws TakoException {
    long first = segments.isEmpty() ? 1 : segments.get(0).header().baseIndex();
    long last = segments.isEmpty() ? 0 : segments.get(segments.size() - 1).lastIndex();
    if (first > checkpointIndex + 1 || last < checkpointIndex) {
      throw corrupt(
          "it holds entries "
              + first
              + " to "
              + last
              + ", which does not continue the checkpoint at entry "
              + checkpointIndex);
    }
  }

  private String name(int slot) {
    return "segment " + headers[slot].segmentSequence() + " in slot " + slot;
  }

  private static TakoException corrupt(String what) {
    return new TakoException(
        Status.CORRUPT,
        "the log is damaged: "
            + what
            + "; acknowledged changes would be lost, so the pool is not opened. Keep a copy of it,"
            + " then restore a backup or format the pool anew");
  }
}
