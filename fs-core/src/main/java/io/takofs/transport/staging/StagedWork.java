package io.takofs.transport.staging;

import io.takofs.base.TakoException;
import io.takofs.layout.Layout;
import io.takofs.memory.MappedMemory;
import io.takofs.transport.CompletionStatus;
import io.takofs.transport.MemoryRegion;
import io.takofs.transport.ProtectionDomain;
import io.takofs.transport.ScatterGather;
import io.takofs.transport.WorkRequest;
import java.nio.ByteBuffer;
import java.util.Arrays;

/**
 * Operations in the form in which native code takes them: {@code work} records, each followed by
 * its {@code piece} records.
 *
 * <p>Thread rule: one thread at a time.
 */
public final class StagedWork {
  private final ProtectionDomain domain;
  private final MappedMemory memory;
  private final ByteBuffer records;
  private int end;
  private int count;
  private long localBytes;

  // The regions of the staged pieces: an address must not outlive its mapping, even if its region
  // is closed and forgotten before the operations are handed over.
  private MemoryRegion[] regions = new MemoryRegion[ScatterGather.MAX];
  private int regionCount;

  /** Room for {@code maxSends} operations, which may use memory of {@code domain}. */
  public StagedWork(ProtectionDomain domain, int maxSends) throws TakoException {
    this.domain = domain;
    int each = Layout.WORK_SIZE + Layout.PIECES_MAX * Layout.PIECE_SIZE;
    int size = Math.max(1, maxSends) * each;
    this.memory = MappedMemory.anonymous(size, false);
    this.records = memory.slice(0, size);
  }

  /** Operations staged. */
  public int count() {
    return count;
  }

  /** Address of the first record. */
  public long address() {
    return memory.address();
  }

  /** Bytes of the records. */
  public int bytes() {
    return end;
  }

  /** Local bytes of what is staged, as {@code TransportCounters} counts them. */
  public long localBytes() {
    return localBytes;
  }

  /** Forgets all. */
  public void clear() {
    Arrays.fill(regions, 0, regionCount, null);
    regionCount = 0;
    end = 0;
    count = 0;
    localBytes = 0;
  }

  /** Adds an operation; one that names local memory it must not use will fail in its turn. */
  public void add(WorkRequest request) {
    long length = addPieces(request.local(), end + Layout.WORK_SIZE);
    if (length < 0) {
      put(request, 0, 0, CompletionStatus.LOCAL_ACCESS_ERROR);
      return;
    }
    put(request, (int) length, request.local().count(), CompletionStatus.SUCCESS);
    localBytes += length;
  }

  /**
   * Adds an operation that uses no local memory.
   *
   * @param length as {@code work} has it
   */
  public void addWithoutMemory(WorkRequest request, int length) {
    put(request, length, 0, CompletionStatus.SUCCESS);
  }

  @SuppressWarnings("EnumOrdinal") // what the record has of them, as layout.def says
  private void put(WorkRequest request, int length, int pieces, CompletionStatus status) {
    int at = end;
    records.putLong(at + Layout.WORK_ID_OFFSET, request.id());
    records.putLong(at + Layout.WORK_REMOTE_ADDRESS_OFFSET, request.remoteAddress());
    records.putLong(at + Layout.WORK_OPERAND_OFFSET, request.operand());
    records.putLong(at + Layout.WORK_DESIRED_OFFSET, request.desired());
    records.putInt(at + Layout.WORK_RKEY_OFFSET, request.rkey());
    records.putInt(at + Layout.WORK_IMMEDIATE_OFFSET, request.immediate());
    records.put(at + Layout.WORK_OPCODE_OFFSET, (byte) request.opcode().ordinal());
    records.put(at + Layout.WORK_FLAGS_OFFSET, (byte) request.flags());
    records.put(at + Layout.WORK_PIECES_OFFSET, (byte) pieces);
    records.put(at + Layout.WORK_STATUS_OFFSET, (byte) status.ordinal());
    records.putInt(at + Layout.WORK_LENGTH_OFFSET, length);
    end = at + Layout.WORK_SIZE + pieces * Layout.PIECE_SIZE;
    count++;
  }

  /** Writes the pieces; returns their total length, or -1 if one of them must not be used. */
  private long addPieces(ScatterGather local, int from) {
    long total = 0;
    int at = from;
    for (int i = 0; i < local.count(); i++, at += Layout.PIECE_SIZE) {
      int offset = local.offset(i);
      int length = local.length(i);
      if (!(local.region(i) instanceof MappedRegion region)
          || !region.allows(domain, offset, length)) {
        return -1;
      }
      keep(region);
      records.putLong(at + Layout.PIECE_ADDRESS_OFFSET, region.localAddress() + offset);
      records.putInt(at + Layout.PIECE_LENGTH_OFFSET, length);
      records.putInt(at + Layout.PIECE_LKEY_OFFSET, region.lkey());
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
