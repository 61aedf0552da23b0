package io.takofs.server.namespace.state;

import io.takofs.server.store.Store;

/**
 * Ids of files and directories, {@code birthShard:8 | counter:56}. The counter is made of the index
 * of the log entry that needs the id, so it needs no record of its own and never repeats.
 */
public final class Ids {
  /** Id of the root directory; its own entry has parent 0 and an empty name. */
  public static final long ROOT = 1;

  public static final long ROOT_PARENT = 0;

  /** Ids one entry may use; a path has fewer elements. */
  private static final int PER_ENTRY_BITS = 10;

  /** The ids of the cluster's servers as clients of one another, with the server's number below. */
  private static final long SERVERS = Long.MIN_VALUE;

  private final long base;
  private int used;

  Ids(long index) {
    base = index << PER_ENTRY_BITS;
  }

  /** A new id for a child of {@code parentId}. */
  public long next(long parentId) {
    return (long) contentShard(parentId) << 56 | base | used++;
  }

  /** The shard of the entries of a directory. */
  public static int contentShard(long directoryId) {
    return (int) (mix(directoryId) >>> 56) % Store.SHARDS;
  }

  /** The shard of the extents, inline data and lease of a file. */
  public static int birthShard(long fileId) {
    return (int) (fileId >>> 56);
  }

  /** The id under which a server is a client of the others. */
  public static long ofServer(int serverId) {
    return SERVERS | Integer.toUnsignedLong(serverId);
  }

  /** Whether no session may have the id: it is none, or a server's. */
  public static boolean isReserved(long clientId) {
    return clientId == 0 || (clientId & -1L << Integer.SIZE) == SERVERS;
  }

  /** Spreads {@code value} over 64 bits. */
  public static long mix(long value) {
    long x = (value ^ (value >>> 30)) * 0xbf58476d1ce4e5b9L;
    x = (x ^ (x >>> 27)) * 0x94d049bb133111ebL;
    return x ^ (x >>> 31);
  }
}
