package io.takofs.transport.verbs;

import io.takofs.base.TakoException;
import io.takofs.layout.Layout;
import io.takofs.memory.MappedMemory;
import io.takofs.transport.ScatterGather;
import java.nio.ByteBuffer;

/**
 * Operations in the form in which native code takes them: {@code verbs_work} records, each followed
 * by its {@code verbs_piece} records.
 *
 * <p>Thread rule: one thread at a time.
 */
final class StagedOperations {
  private final VerbsProtectionDomain domain;
  private final MappedMemory memory;
  private final ByteBuffer records;
  private final ScatterGather none = new ScatterGather();
  private int end;
  private int count;
  private long localBytes;

  StagedOperations(VerbsProtectionDomain domain, int maxSends) throws TakoException {
    this.domain = domain;
    int each = Layout.VERBS_WORK_SIZE + Layout.VERBS_PIECES_MAX * Layout.VERBS_PIECE_SIZE;
    int size = Math.max(1, maxSends) * each;
    this.memory = MappedMemory.anonymous(size, false);
    this.records = memory.slice(0, size);
  }

  int count() {
    return count;
  }

  long address() {
    return memory.address();
  }

  /** Local bytes of what is staged, as {@code TransportCounters} counts them. */
  long localBytes() {
    return localBytes;
  }

  void clear() {
    end = 0;
    count = 0;
    localBytes = 0;
  }

  /**
   * Adds an operation, {@code Layout.VERBS_OP_*}; one that names memory it must not use will fail
   * in its turn.
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
    long length = addPieces(local, at + Layout.VERBS_WORK_SIZE);
    int status = length < 0 ? Layout.VERBS_LOCAL_ACCESS_ERROR : Layout.VERBS_SUCCESS;
    int pieces = length < 0 ? 0 : local.count();
    records.putLong(at + Layout.VERBS_WORK_ID_OFFSET, id);
    records.putLong(at + Layout.VERBS_WORK_REMOTE_ADDRESS_OFFSET, remoteAddress);
    records.putLong(at + Layout.VERBS_WORK_OPERAND_OFFSET, operand);
    records.putLong(at + Layout.VERBS_WORK_DESIRED_OFFSET, desired);
    records.putInt(at + Layout.VERBS_WORK_RKEY_OFFSET, rkey);
    records.putInt(at + Layout.VERBS_WORK_IMMEDIATE_OFFSET, immediate);
    records.put(at + Layout.VERBS_WORK_OPCODE_OFFSET, (byte) opcode);
    records.put(at + Layout.VERBS_WORK_FLAGS_OFFSET, (byte) flags);
    records.put(at + Layout.VERBS_WORK_PIECES_OFFSET, (byte) pieces);
    records.put(at + Layout.VERBS_WORK_STATUS_OFFSET, (byte) status);
    records.putInt(at + Layout.VERBS_WORK_LENGTH_OFFSET, (int) Math.max(length, 0));
    end = at + Layout.VERBS_WORK_SIZE + pieces * Layout.VERBS_PIECE_SIZE;
    count++;
    localBytes += Math.max(length, 0);
  }

  /** Adds a write of nothing: it touches no memory, and the peer's device acknowledges it. */
  void addProbe(long id) {
    add(Layout.VERBS_OP_WRITE, id, none, 0, 0, 0, 0, 0, 0);
  }

  /** Adds the binding of {@code length} bytes at {@code address} of a region to a window. */
  void addBinding(
      long id,
      long window,
      int rkey,
      long region,
      long address,
      long length,
      int access,
      int flags) {
    addWindowOperation(Layout.VERBS_OP_BIND_WINDOW, id, rkey, flags);
    int at = end - Layout.VERBS_WORK_SIZE;
    records.putLong(at + Layout.VERBS_WORK_REMOTE_ADDRESS_OFFSET, address);
    records.putLong(at + Layout.VERBS_WORK_OPERAND_OFFSET, length);
    records.putLong(at + Layout.VERBS_WORK_DESIRED_OFFSET, access);
    records.putLong(at + Layout.VERBS_WORK_WINDOW_OFFSET, window);
    records.putLong(at + Layout.VERBS_WORK_REGION_OFFSET, region);
  }

  /** Adds the end of a window's key. */
  void addInvalidation(long id, int rkey, int flags) {
    addWindowOperation(Layout.VERBS_OP_INVALIDATE_WINDOW, id, rkey, flags);
  }

  private void addWindowOperation(int opcode, long id, int rkey, int flags) {
    add(opcode, id, none, 0, rkey, 0, 0, 0, flags);
  }

  /** Writes the pieces; returns their total length, or -1 if one of them must not be used. */
  private long addPieces(ScatterGather local, int from) {
    long total = 0;
    int at = from;
    for (int i = 0; i < local.count(); i++, at += Layout.VERBS_PIECE_SIZE) {
      int offset = local.offset(i);
      int length = local.length(i);
      if (!(local.region(i) instanceof VerbsMemoryRegion region)
          || !region.allows(domain, offset, length)) {
        return -1;
      }
      records.putLong(at + Layout.VERBS_PIECE_ADDRESS_OFFSET, region.address() + offset);
      records.putInt(at + Layout.VERBS_PIECE_LENGTH_OFFSET, length);
      records.putInt(at + Layout.VERBS_PIECE_LKEY_OFFSET, region.lkey());
      total += length;
    }
    return total <= Integer.MAX_VALUE ? total : -1;
  }
}
