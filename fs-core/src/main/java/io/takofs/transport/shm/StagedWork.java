package io.takofs.transport.shm;

import io.takofs.base.TakoException;
import io.takofs.layout.Layout;
import io.takofs.memory.MappedMemory;
import io.takofs.transport.MemoryRegion;
import io.takofs.transport.ScatterGather;
import java.nio.ByteBuffer;
import java.util.Arrays;

/**
 * Operations in the form in which native code takes them: {@code shm_work} records, each followed
 * by its {@code shm_piece} records.
 *
 * <p>Thread rule: one thread at a time.
 */
final class StagedWork {
  private final ShmProtectionDomain domain;
  private final MappedMemory memory;
  private final ByteBuffer records;
  private int end;
  private int count;
  private long localBytes;

  // The regions of the staged pieces: an address must not outlive its mapping, even if its region
  // is closed and forgotten before the operations are handed over.
  private MemoryRegion[] regions = new MemoryRegion[ScatterGather.MAX];
  private int regionCount;

  StagedWork(ShmProtectionDomain domain, int maxSends) throws TakoException {
    this.domain = domain;
    int size = maxSends * (Layout.SHM_WORK_SIZE + Layout.SHM_PIECES_MAX * Layout.SHM_PIECE_SIZE);
    this.memory = MappedMemory.anonymous(size, false);
    this.records = memory.slice(0, size);
  }

  int count() {
    return count;
  }

  long address() {
    return memory.address();
  }

  /** Bytes staged. */
  int bytes() {
    return end;
  }

  /** Local bytes of what is staged, as {@code TransportCounters} counts them. */
  long localBytes() {
    return localBytes;
  }

  void clear() {
    Arrays.fill(regions, 0, regionCount, null);
    regionCount = 0;
    end = 0;
    count = 0;
    localBytes = 0;
  }

  /**
   * Adds an operation, {@code Layout.SHM_OP_*}; one that names memory it must not use will fail in
   * its turn.
   */
  void add(
      int opcode,
      long id,
      ScatterGather local,
      long remoteAddress,
      int rkey,
      int immediate,
      long operand,
      long desired,
      int flags) {
    int at = end;
    long length = addPieces(local, at + Layout.SHM_WORK_SIZE);
    int status = length < 0 ? Layout.SHM_LOCAL_ACCESS_ERROR : Layout.SHM_SUCCESS;
    int pieces = length < 0 ? 0 : local.count();
    records.putLong(at + Layout.SHM_WORK_ID_OFFSET, id);
    records.putLong(at + Layout.SHM_WORK_REMOTE_ADDRESS_OFFSET, remoteAddress);
    records.putLong(at + Layout.SHM_WORK_OPERAND_OFFSET, operand);
    records.putLong(at + Layout.SHM_WORK_DESIRED_OFFSET, desired);
    records.putInt(at + Layout.SHM_WORK_RKEY_OFFSET, rkey);
    records.putInt(at + Layout.SHM_WORK_IMMEDIATE_OFFSET, immediate);
    records.put(at + Layout.SHM_WORK_OPCODE_OFFSET, (byte) opcode);
    records.put(at + Layout.SHM_WORK_FLAGS_OFFSET, (byte) flags);
    records.put(at + Layout.SHM_WORK_PIECES_OFFSET, (byte) pieces);
    records.put(at + Layout.SHM_WORK_STATUS_OFFSET, (byte) status);
    records.putInt(at + Layout.SHM_WORK_LENGTH_OFFSET, (int) Math.max(length, 0));
    end = at + Layout.SHM_WORK_SIZE + pieces * Layout.SHM_PIECE_SIZE;
    count++;
    localBytes += Math.max(length, 0);
  }

  /** Writes the pieces; returns their total length, or -1 if one of them must not be used. */
  private long addPieces(ScatterGather local, int from) {
    long total = 0;
    int at = from;
    for (int i = 0; i < local.count(); i++, at += Layout.SHM_PIECE_SIZE) {
      int offset = local.offset(i);
      int length = local.length(i);
      if (!(local.region(i) instanceof ShmMemoryRegion region)
          || !region.allows(domain, offset, length)) {
        return -1;
      }
      keep(region);
      records.putLong(at + Layout.SHM_PIECE_ADDRESS_OFFSET, region.localAddress() + offset);
      records.putInt(at + Layout.SHM_PIECE_LENGTH_OFFSET, length);
      total += length;
    }
    return total <= Integer.MAX_VALUE ? total : -1;
  }

  private void keep(MemoryRegion region) {
    if (regionCount > 0 && regions[regionCount - 1] == region) {
      return;
    }
    if (regionCount == regions.length) {
      regions = Arrays.copyOf(regions, 2 * regionCount);
    }
    regions[regionCount++] = region;
  }
}
