package io.takofs.server.segment;

import io.takofs.layout.Layout;
import io.takofs.memory.Zeros;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;

/**
 * The writer of a segment and its place in the chain. Fields are those of {@code SEGMENT_HEADER} in
 * layout.def.
 *
 * <p>Two copies, each with a CRC. A change is written to one and, when that is complete, to the
 * other, so a crash at any byte leaves one whole, and a damaged copy leaves the same header in the
 * other.
 */
public record SegmentHeader(
    SegmentState state,
    int logId,
    int replicaIncarnation,
    long segmentSequence,
    long term,
    long baseIndex,
    int baseChain,
    int sealedLength,
    int sealedChain,
    long grant,
    long writeSequence) {

  /** The header of a slot that was never used: zeros. */
  private static final SegmentHeader NEVER_USED =
      new SegmentHeader(SegmentState.FREE, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);

  private static final int COPY_A = 0;
  private static final int COPY_B = Layout.SEGMENT_HEADER_COPY_B;

  /** Whether no segment was ever in the slot. */
  public boolean isNeverUsed() {
    return writeSequence == 0;
  }

  /**
   * Whether this segment comes after the one of {@code sequence} that ends so, and continues it.
   * Every frame's term and index are in the chain value, so segments of two leaders that end at the
   * same index differ in it, but for one in 2^32.
   */
  public boolean follows(long sequence, long lastIndex, int chain) {
    return segmentSequence == sequence + 1 && baseIndex == lastIndex + 1 && baseChain == chain;
  }

  /** Whether {@code other} is of the same segment, at this replica or another one. */
  public boolean isSameSegment(SegmentHeader other) {
    return segmentSequence == other.segmentSequence
        && term == other.term
        && baseIndex == other.baseIndex
        && baseChain == other.baseChain;
  }

  /** The segment's last header: no frame will follow {@code length}. */
  SegmentHeader sealed(int length, int chain) {
    return new SegmentHeader(
        SegmentState.SEALED,
        logId,
        replicaIncarnation,
        segmentSequence,
        term,
        baseIndex,
        baseChain,
        length,
        chain,
        grant,
        writeSequence + 1);
  }

  /** The header of a segment without frames that another incarnation or leader takes over. */
  public SegmentHeader adopted(int incarnation, long newTerm) {
    return new SegmentHeader(
        state,
        logId,
        incarnation,
        segmentSequence,
        newTerm,
        baseIndex,
        baseChain,
        sealedLength,
        sealedChain,
        grant,
        writeSequence + 1);
  }

  /** The header of a slot whose segment is no longer needed. */
  SegmentHeader freed() {
    return new SegmentHeader(
        SegmentState.FREE,
        logId,
        replicaIncarnation,
        segmentSequence,
        term,
        0,
        0,
        0,
        0,
        0,
        writeSequence + 1);
  }

  /** The header of a free slot that the leader gets, for the segment with this sequence. */
  public SegmentHeader granted(
      int newLogId, int incarnation, long newGrant, long sequence, long newTerm) {
    return new SegmentHeader(
        SegmentState.GRANTED,
        newLogId,
        incarnation,
        sequence,
        newTerm,
        0,
        0,
        0,
        0,
        newGrant,
        writeSequence + 1);
  }

  /** The header of the next segment, which is written in {@code newTerm}. */
  public SegmentHeader following(long lastIndex, int chain, long newTerm) {
    return new SegmentHeader(
        SegmentState.OPEN,
        logId,
        replicaIncarnation,
        segmentSequence + 1,
        newTerm,
        lastIndex + 1,
        chain,
        0,
        0,
        0,
        0);
  }

  /** The same for the slot that had {@code before}. */
  public SegmentHeader movedTo(SegmentHeader before) {
    return new SegmentHeader(
        state,
        logId,
        replicaIncarnation,
        segmentSequence,
        term,
        baseIndex,
        baseChain,
        sealedLength,
        sealedChain,
        grant,
        before.writeSequence + 1);
  }

  /** The header of the slot as the home of {@code segment}, under a grant of this replica. */
  public SegmentHeader holding(SegmentHeader segment, int incarnation, long newGrant) {
    return new SegmentHeader(
        SegmentState.OPEN,
        segment.logId,
        incarnation,
        segment.segmentSequence,
        segment.term,
        segment.baseIndex,
        segment.baseChain,
        0,
        0,
        newGrant,
        writeSequence + 1);
  }

  /**
   * Writes both copies, one after the other, each made persistent before the next: first the one
   * that is not the newest whole one, which a crash may have left alone with the present truth.
   */
  public void write(LogZone zone, int slot, Crc32cScratch crc) {
    ByteBuffer memory = zone.slot(slot);
    boolean secondIsNewest = isNewer(decode(memory, COPY_B, crc), decode(memory, COPY_A, crc));
    writeCopy(zone, slot, secondIsNewest ? COPY_A : COPY_B, crc);
    writeCopy(zone, slot, secondIsNewest ? COPY_B : COPY_A, crc);
  }

  /** The newest whole copy in {@code memory}, or null when neither is whole. */
  public static SegmentHeader read(ByteBuffer memory, Crc32cScratch crc) {
    SegmentHeader first = decode(memory, COPY_A, crc);
    SegmentHeader second = decode(memory, COPY_B, crc);
    return isNewer(second, first) ? second : first;
  }

  private static boolean isNewer(SegmentHeader header, SegmentHeader than) {
    return header != null && (than == null || header.writeSequence > than.writeSequence);
  }

  private void writeCopy(LogZone zone, int slot, int at, Crc32cScratch crc) {
    encode(zone.slot(slot), at, crc);
    VarHandle.releaseFence();
    zone.persist(slot, at, Layout.SEGMENT_HEADER_SIZE);
  }

  private void encode(ByteBuffer memory, int at, Crc32cScratch crc) {
    Zeros.write(memory, at, Layout.SEGMENT_HEADER_SIZE);
    memory.putInt(at + Layout.SEGMENT_HEADER_MAGIC_OFFSET, Layout.SEGMENT_MAGIC);
    memory.putShort(at + Layout.SEGMENT_HEADER_VERSION_OFFSET, (short) Layout.POOL_VERSION);
    memory.put(at + Layout.SEGMENT_HEADER_STATE_OFFSET, state.code());
    memory.putInt(at + Layout.SEGMENT_HEADER_LOG_ID_OFFSET, logId);
    memory.putInt(at + Layout.SEGMENT_HEADER_REPLICA_INCARNATION_OFFSET, replicaIncarnation);
    memory.putLong(at + Layout.SEGMENT_HEADER_SEGMENT_SEQUENCE_OFFSET, segmentSequence);
    memory.putLong(at + Layout.SEGMENT_HEADER_TERM_OFFSET, term);
    memory.putLong(at + Layout.SEGMENT_HEADER_BASE_INDEX_OFFSET, baseIndex);
    memory.putLong(at + Layout.SEGMENT_HEADER_BASE_CHAIN_OFFSET, Integer.toUnsignedLong(baseChain));
    memory.putInt(at + Layout.SEGMENT_HEADER_SEALED_LENGTH_OFFSET, sealedLength);
    memory.putInt(at + Layout.SEGMENT_HEADER_VALID_LENGTH_OFFSET, sealedLength);
    memory.putLong(
        at + Layout.SEGMENT_HEADER_SEALED_CHAIN_OFFSET, Integer.toUnsignedLong(sealedChain));
    memory.putLong(at + Layout.SEGMENT_HEADER_GRANT_OFFSET, grant);
    memory.putLong(at + Layout.SEGMENT_HEADER_WRITE_SEQUENCE_OFFSET, writeSequence);
    memory.putInt(at + Layout.SEGMENT_HEADER_CRC32C_OFFSET, crcOf(memory, at, crc));
  }

  /** The copy at {@code at}; null when it is not whole or not one of ours. */
  private static SegmentHeader decode(ByteBuffer memory, int at, Crc32cScratch crc) {
    if (Zeros.are(memory, at, Layout.SEGMENT_HEADER_SIZE)) {
      return NEVER_USED;
    }
    SegmentState state = SegmentState.of(memory.get(at + Layout.SEGMENT_HEADER_STATE_OFFSET));
    if (memory.getInt(at + Layout.SEGMENT_HEADER_CRC32C_OFFSET) != crcOf(memory, at, crc)
        || memory.getInt(at + Layout.SEGMENT_HEADER_MAGIC_OFFSET) != Layout.SEGMENT_MAGIC
        || memory.getShort(at + Layout.SEGMENT_HEADER_VERSION_OFFSET) != Layout.POOL_VERSION
        || state == null) {
      return null;
    }
    return new SegmentHeader(
        state,
        memory.getInt(at + Layout.SEGMENT_HEADER_LOG_ID_OFFSET),
        memory.getInt(at + Layout.SEGMENT_HEADER_REPLICA_INCARNATION_OFFSET),
        memory.getLong(at + Layout.SEGMENT_HEADER_SEGMENT_SEQUENCE_OFFSET),
        memory.getLong(at + Layout.SEGMENT_HEADER_TERM_OFFSET),
        memory.getLong(at + Layout.SEGMENT_HEADER_BASE_INDEX_OFFSET),
        (int) memory.getLong(at + Layout.SEGMENT_HEADER_BASE_CHAIN_OFFSET),
        memory.getInt(at + Layout.SEGMENT_HEADER_SEALED_LENGTH_OFFSET),
        (int) memory.getLong(at + Layout.SEGMENT_HEADER_SEALED_CHAIN_OFFSET),
        memory.getLong(at + Layout.SEGMENT_HEADER_GRANT_OFFSET),
        memory.getLong(at + Layout.SEGMENT_HEADER_WRITE_SEQUENCE_OFFSET));
  }

  private static int crcOf(ByteBuffer memory, int at, Crc32cScratch crc) {
    return crc.ofRange(memory.duplicate(), at, Layout.SEGMENT_HEADER_CRC32C_OFFSET);
  }
}
