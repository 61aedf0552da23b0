package io.takofs.server.zone;

import io.takofs.layout.Layout;
import io.takofs.memory.Zeros;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.util.zip.CRC32C;

/**
 * Whom a slab is lent to. Fields are those of {@code SLAB_RECORD} in layout.def.
 *
 * <p>Two copies, each with a CRC. A change is written to one and, when that is complete, to the
 * other, so a crash at any byte leaves one whole, and a damaged copy leaves the same record in the
 * other.
 *
 * @param lease number of the last lease; 0 before the first
 * @param group that it is or was lent to
 * @param term of the leader that leased it, or a later term that the group was heard of in
 * @param request of that leader; 0 when it was not leased in the term
 * @param writeSequence orders the copies; 0 when it was never written
 */
record SlabRecord(
    SlabState state, long lease, int group, long term, long request, long writeSequence) {
  private static final SlabRecord NEVER_USED = new SlabRecord(SlabState.FREE, 0, 0, 0, 0, 0);
  private static final int CRC = Layout.SLAB_RECORD_CRC32C_OFFSET;

  SlabRecord leased(long number, int newGroup, long newTerm, long newRequest) {
    return new SlabRecord(
        SlabState.LEASED, number, newGroup, newTerm, newRequest, writeSequence + 1);
  }

  SlabRecord in(SlabState newState) {
    return new SlabRecord(newState, lease, group, term, request, writeSequence + 1);
  }

  /** The record that also says that the group was heard of in a later term. */
  SlabRecord heardIn(long newTerm) {
    return new SlabRecord(state, lease, group, newTerm, 0, writeSequence + 1);
  }

  boolean isLeasedAs(long number) {
    return state == SlabState.LEASED && lease == number;
  }

  /** Writes both copies, each made persistent before the next; first the one that is not newest. */
  void write(SlabZone zone, int slot) {
    ByteBuffer memory = zone.slot(slot);
    boolean secondIsNewest = isNewer(decode(memory, Layout.SLAB_COPY_B), decode(memory, 0));
    int first = secondIsNewest ? 0 : Layout.SLAB_COPY_B;
    writeCopy(zone, slot, first);
    writeCopy(zone, slot, Layout.SLAB_COPY_B - first);
  }

  /** The newest whole copy in {@code memory}, or null when neither is whole. */
  static SlabRecord read(ByteBuffer memory) {
    SlabRecord first = decode(memory, 0);
    SlabRecord second = decode(memory, Layout.SLAB_COPY_B);
    return isNewer(second, first) ? second : first;
  }

  private static boolean isNewer(SlabRecord record, SlabRecord than) {
    return record != null && (than == null || record.writeSequence > than.writeSequence);
  }

  private void writeCopy(SlabZone zone, int slot, int at) {
    encode(zone.slot(slot), at);
    VarHandle.releaseFence();
    zone.persist(slot, at, Layout.SLAB_RECORD_SIZE);
  }

  private void encode(ByteBuffer memory, int at) {
    Zeros.write(memory, at, Layout.SLAB_RECORD_SIZE);
    memory.putInt(at + Layout.SLAB_RECORD_MAGIC_OFFSET, Layout.SLAB_MAGIC);
    memory.putInt(at + Layout.SLAB_RECORD_STATE_OFFSET, state.code());
    memory.putLong(at + Layout.SLAB_RECORD_LEASE_OFFSET, lease);
    memory.putInt(at + Layout.SLAB_RECORD_GROUP_OFFSET, group);
    memory.putLong(at + Layout.SLAB_RECORD_TERM_OFFSET, term);
    memory.putLong(at + Layout.SLAB_RECORD_REQUEST_OFFSET, request);
    memory.putLong(at + Layout.SLAB_RECORD_WRITE_SEQUENCE_OFFSET, writeSequence);
    memory.putInt(at + CRC, crc(memory, at));
  }

  /** The copy at {@code at}; null when it is not whole or not one of ours. */
  private static SlabRecord decode(ByteBuffer memory, int at) {
    if (Zeros.are(memory, at, Layout.SLAB_RECORD_SIZE)) {
      return NEVER_USED;
    }
    SlabState state = SlabState.of(memory.getInt(at + Layout.SLAB_RECORD_STATE_OFFSET));
    if (memory.getInt(at + CRC) != crc(memory, at)
        || memory.getInt(at + Layout.SLAB_RECORD_MAGIC_OFFSET) != Layout.SLAB_MAGIC
        || state == null) {
      return null;
    }
    return new SlabRecord(
        state,
        memory.getLong(at + Layout.SLAB_RECORD_LEASE_OFFSET),
        memory.getInt(at + Layout.SLAB_RECORD_GROUP_OFFSET),
        memory.getLong(at + Layout.SLAB_RECORD_TERM_OFFSET),
        memory.getLong(at + Layout.SLAB_RECORD_REQUEST_OFFSET),
        memory.getLong(at + Layout.SLAB_RECORD_WRITE_SEQUENCE_OFFSET));
  }

  private static int crc(ByteBuffer memory, int at) {
    CRC32C crc = new CRC32C();
    crc.update(memory.slice(at, CRC));
    return (int) crc.getValue();
  }
}
