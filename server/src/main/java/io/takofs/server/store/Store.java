package io.takofs.server.store;

/**
 * The state that a log feeds: {@link #SHARDS} maps for the namespace and one for the server itself
 * (sessions, extents). A checkpoint freezes all of them at one log index; after a crash they are
 * again what they were at the last finished checkpoint, and the log is replayed from there.
 *
 * <p>Thread rule: the state machine's thread.
 */
public interface Store extends AutoCloseable {
  /** Shards of the namespace; fixed, because it is part of where every entry lives. */
  int SHARDS = 256;

  /** Map of shard {@code 0..SHARDS-1}. */
  OrderedMap shard(int shard);

  /** Map of what belongs to the server and not to a directory. */
  OrderedMap server();

  /** Index of the last log entry that the last finished checkpoint covers; 0 for none. */
  long checkpointIndex();

  /**
   * Makes the present state, which has applied the log up to {@code index}, the next checkpoint.
   */
  void checkpoint(long index);

  /**
   * Whether {@code changes} puts and removes, of whatever keys in whatever maps, are sure to find
   * pages. The answer follows from the last checkpoint and the changes since: a replay gets the
   * same one.
   */
  boolean hasRoom(int changes);

  /** Pages in use and in all, 8 KiB each. */
  long pagesUsed();

  long pagesTotal();

  @Override
  void close();
}
