package io.takofs.server.pool;

import io.takofs.base.TakoException;
import io.takofs.layout.Layout;
import io.takofs.proto.Status;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.function.IntConsumer;
import java.util.zip.CRC32C;

/**
 * Identity and sizes of a pool, stored twice: a crash or a bad bit spoils one copy, never both.
 *
 * @param identity whose pool it is
 * @param epoch incarnation of the server, one more at each open; 0 when just formatted
 * @param writeSequence orders the copies
 * @param ownerPid process that wrote it
 * @param sizes of the zones
 */
record Superblock(
    PoolIdentity identity, long epoch, long writeSequence, long ownerPid, PoolSizes sizes) {
  /** Bytes from the start of the meta file that hold both copies. */
  static final int AREA = Layout.SUPERBLOCK_COPY_B + Layout.SUPERBLOCK_SIZE;

  private static final int CRC = Layout.SUPERBLOCK_CRC32C_OFFSET;

  /**
   * The newer valid copy in {@code area}.
   *
   * @param where names the file in messages
   * @throws TakoException INVALID_ARGUMENT if this was never a pool, VERSION_MISMATCH if another
   *     version or layout made it, CORRUPT if both copies are damaged
   */
  static Superblock read(ByteBuffer area, String where) throws TakoException {
    ByteBuffer a = copy(area, 0);
    ByteBuffer b = copy(area, Layout.SUPERBLOCK_COPY_B);
    boolean validA = isValid(a);
    boolean validB = isValid(b);
    if (!validA && !validB) {
      throw unreadable(a, b, where);
    }
    ByteBuffer newer = validA && (!validB || sequence(a) >= sequence(b)) ? a : b;
    long hash = newer.getLong(Layout.SUPERBLOCK_LAYOUT_HASH_OFFSET);
    if (hash != Layout.LAYOUT_HASH) {
      throw new TakoException(
          Status.VERSION_MISMATCH,
          String.format(
              "%s has memory layout %016x, this server has %016x: run the server that made the pool,"
                  + " or format a new one elsewhere",
              where, hash, Layout.LAYOUT_HASH));
    }
    return decode(newer, where);
  }

  /** Whether both copies are readable; one alone still opens. */
  static boolean bothValid(ByteBuffer area) {
    return isValid(copy(area, 0)) && isValid(copy(area, Layout.SUPERBLOCK_COPY_B));
  }

  /** Whether nothing was ever written to {@code area}: a format that did not finish. */
  static boolean isBlank(ByteBuffer area) {
    for (int i = 0; i < AREA; i++) {
      if (area.get(i) != 0) {
        return false;
      }
    }
    return true;
  }

  /**
   * Writes both copies; at every moment one of them is whole.
   *
   * @param persist makes the copy at an offset durable
   */
  void write(ByteBuffer area, IntConsumer persist) {
    ByteBuffer encoded = encode();
    ByteBuffer a = copy(area, 0);
    ByteBuffer b = copy(area, Layout.SUPERBLOCK_COPY_B);
    boolean firstA = !isValid(a) || (isValid(b) && sequence(a) < sequence(b));
    int first = firstA ? 0 : Layout.SUPERBLOCK_COPY_B;
    int second = Layout.SUPERBLOCK_COPY_B - first;
    for (int offset : new int[] {first, second}) {
      area.put(offset, encoded, 0, Layout.SUPERBLOCK_SIZE);
      persist.accept(offset);
      VarHandle.fullFence();
    }
  }

  private ByteBuffer encode() {
    ByteBuffer to = copy(ByteBuffer.allocate(Layout.SUPERBLOCK_SIZE), 0);
    to.putInt(Layout.SUPERBLOCK_MAGIC_OFFSET, Layout.POOL_MAGIC);
    to.putInt(Layout.SUPERBLOCK_VERSION_OFFSET, Layout.POOL_VERSION);
    to.putLong(Layout.SUPERBLOCK_LAYOUT_HASH_OFFSET, Layout.LAYOUT_HASH);
    to.putLong(Layout.SUPERBLOCK_POOL_ID_OFFSET, identity.poolId());
    to.putLong(Layout.SUPERBLOCK_EPOCH_OFFSET, epoch);
    to.putLong(Layout.SUPERBLOCK_WRITE_SEQUENCE_OFFSET, writeSequence);
    to.putLong(Layout.SUPERBLOCK_OWNER_PID_OFFSET, ownerPid);
    to.putLong(Layout.SUPERBLOCK_PAGE_OFFSET_OFFSET, sizes.pageOffset());
    to.putLong(Layout.SUPERBLOCK_PAGE_LENGTH_OFFSET, sizes.pages());
    to.putLong(Layout.SUPERBLOCK_LOG_OFFSET_OFFSET, sizes.logOffset());
    to.putLong(Layout.SUPERBLOCK_LOG_LENGTH_OFFSET, sizes.log());
    to.putLong(Layout.SUPERBLOCK_DATA_LENGTH_OFFSET, sizes.data());
    to.putLong(Layout.SUPERBLOCK_SLAB_OFFSET_OFFSET, sizes.slabOffset());
    to.putLong(Layout.SUPERBLOCK_SLAB_LENGTH_OFFSET, sizes.slabs());
    to.putLong(Layout.SUPERBLOCK_CLUSTER_ID_OFFSET, identity.clusterId());
    to.putInt(Layout.SUPERBLOCK_SERVER_ID_OFFSET, identity.serverId());
    to.putInt(CRC, crc(to));
    return to;
  }

  private static Superblock decode(ByteBuffer from, String where) throws TakoException {
    PoolSizes sizes =
        new PoolSizes(
            from.getLong(Layout.SUPERBLOCK_PAGE_LENGTH_OFFSET),
            from.getLong(Layout.SUPERBLOCK_LOG_LENGTH_OFFSET),
            from.getLong(Layout.SUPERBLOCK_DATA_LENGTH_OFFSET));
    try {
      sizes.checked();
    } catch (TakoException e) {
      throw new TakoException(Status.CORRUPT, where + ": " + e.getMessage(), e);
    }
    return new Superblock(
        new PoolIdentity(
            from.getLong(Layout.SUPERBLOCK_POOL_ID_OFFSET),
            from.getLong(Layout.SUPERBLOCK_CLUSTER_ID_OFFSET),
            from.getInt(Layout.SUPERBLOCK_SERVER_ID_OFFSET)),
        from.getLong(Layout.SUPERBLOCK_EPOCH_OFFSET),
        sequence(from),
        from.getLong(Layout.SUPERBLOCK_OWNER_PID_OFFSET),
        sizes);
  }

  private static TakoException unreadable(ByteBuffer a, ByteBuffer b, String where) {
    for (ByteBuffer copy : new ByteBuffer[] {a, b}) {
      int version = copy.getInt(Layout.SUPERBLOCK_VERSION_OFFSET);
      if (hasMagic(copy) && version > Layout.POOL_VERSION) {
        return new TakoException(
            Status.VERSION_MISMATCH,
            where
                + " is a pool of version "
                + version
                + ", this server knows "
                + Layout.POOL_VERSION
                + ": run a newer server, or format a new pool elsewhere");
      }
      if (hasMagic(copy) && version > 0 && version < Layout.POOL_VERSION && hasCrc(copy)) {
        return new TakoException(
            Status.VERSION_MISMATCH,
            where
                + " is a pool of version "
                + version
                + ", this server needs version "
                + Layout.POOL_VERSION
                + ": copy its files with the version of Tako that made it, then remove the directory"
                + " and start with --format for an empty pool, or format one elsewhere");
      }
    }
    if (hasMagic(a) || hasMagic(b)) {
      return new TakoException(
          Status.CORRUPT,
          where
              + ": both copies of the superblock fail their CRC; the pool cannot be opened,"
              + " remove its directory and start with --format for an empty one");
    }
    return new TakoException(
        Status.INVALID_ARGUMENT,
        where + " is not a Tako pool (its first word is not 'TAKO'): choose another directory");
  }

  private static ByteBuffer copy(ByteBuffer area, int offset) {
    return area.slice(offset, Layout.SUPERBLOCK_SIZE).order(ByteOrder.LITTLE_ENDIAN);
  }

  private static boolean hasMagic(ByteBuffer copy) {
    return copy.getInt(Layout.SUPERBLOCK_MAGIC_OFFSET) == Layout.POOL_MAGIC;
  }

  private static boolean isValid(ByteBuffer copy) {
    return hasMagic(copy)
        && copy.getInt(Layout.SUPERBLOCK_VERSION_OFFSET) == Layout.POOL_VERSION
        && hasCrc(copy);
  }

  private static boolean hasCrc(ByteBuffer copy) {
    return copy.getInt(CRC) == crc(copy);
  }

  private static long sequence(ByteBuffer copy) {
    return copy.getLong(Layout.SUPERBLOCK_WRITE_SEQUENCE_OFFSET);
  }

  private static int crc(ByteBuffer copy) {
    CRC32C crc = new CRC32C();
    crc.update(copy.slice(0, CRC));
    return (int) crc.getValue();
  }
}
