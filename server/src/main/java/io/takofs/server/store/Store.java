package io.takofs.server.store;

import io.takofs.base.TakoException;
import java.util.BitSet;

/**
 * The state that a log feeds: {@link #SHARDS} maps for the namespace, one for the server itself
 * (sessions, extents), and a summary of them. A checkpoint freezes all of them at one log index;
 * after a crash they are again what they were at the last finished checkpoint, and the log is
 * replayed from there.
 *
 * <p>A page that the last checkpoint has is never overwritten: the first change after it goes to a
 * fresh page, and the old one is free again only when the next checkpoint is finished. So changes
 * use up free pages until then, removes too, and the owner of the store has this to do between two
 * log entries:
 *
 * <pre>{@code
 * if (store.checkpointDue()) store.checkpoint(applied);      // at once: pages run low
 * else if (store.checkpointWanted() || enough log since then) store.beginCheckpoint(applied);
 * store.advanceCheckpoint(1000);                             // a piece of the one in progress
 * log.trim(store.checkpointIndex());
 * }</pre>
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

  /**
   * Map of what is derived from the others and is written when a checkpoint begins, and never
   * otherwise. Its pages count nowhere: those it may have are set aside ({@link #SUMMARY_PART}), so
   * that what fits does not depend on when checkpoints are taken.
   */
  OrderedMap summary();

  /**
   * Part of the pages that {@link #summary} may fill, and as many more that a checkpoint copies.
   */
  int SUMMARY_PART = 64;

  /** Records of up to 48 bytes that {@link #summary} is sure to have room for. */
  default long summaryRecordsMax() {
    return Integer.MAX_VALUE;
  }

  /** Runs {@code summarize}, which writes {@link #summary}, whenever a checkpoint begins. */
  void onCheckpoint(Summarizer summarize);

  /** Writes the summary of the state that a checkpoint is about to freeze. */
  @FunctionalInterface
  interface Summarizer {
    /** Changes nothing but the summary. */
    void run() throws TakoException;
  }

  /** Index of the last log entry that the last finished checkpoint covers; 0 for none. */
  long checkpointIndex();

  /**
   * Makes the present state, which has applied the log up to {@code index}, the next checkpoint,
   * and finishes it. One that is in progress is finished first.
   */
  void checkpoint(long index);

  /**
   * Freezes the present state, which has applied the log up to {@code index}, in a time that does
   * not depend on its size. Changes may follow at once; {@link #advanceCheckpoint} does the work.
   * Nothing happens if a checkpoint is in progress.
   */
  void beginCheckpoint(long index);

  /**
   * Works through at most {@code pages} changed pages of the checkpoint in progress. It is
   * finished, and {@link #checkpointIndex} is its index, when this returns true; true also when
   * there is none in progress.
   */
  boolean advanceCheckpoint(int pages);

  /**
   * Whether free pages run low until the next {@link #checkpoint}. One log entry may change at
   * least {@link #CHANGES_PER_CHECK} keys after this was false.
   */
  boolean checkpointDue();

  /**
   * Whether so many pages have changed that a checkpoint should begin, to be finished in pieces
   * before one is due: a due one has to be made at once, while everybody waits.
   */
  boolean checkpointWanted();

  /** Keys that may change, whatever the size of the store, between two checks. */
  int CHANGES_PER_CHECK = 128;

  /**
   * Whether {@code changes} puts and removes, of whatever keys in whatever maps, are sure to find
   * pages. The answer follows from the changes made since the pool was formatted and from nothing
   * else, not from when checkpoints were taken: a replay gets the same one. Entries that free more
   * than they add need not ask: a part of the pages is kept for them.
   */
  boolean hasRoom(int changes);

  /** A log entry begins: what {@link #take} has given so far was for those before it. */
  default void beginEntry() {}

  /**
   * Takes pages for {@code changes} of keys, {@code growing} of them puts, from those that are kept
   * for one entry. False when there might not be enough. The answer follows from the state and the
   * entry alone, as that of {@link #hasRoom}.
   */
  default boolean take(int changes, int growing) {
    return true;
  }

  /**
   * As {@link #take}, of changes whose pages are known: where so many are made at once that most of
   * them share pages.
   *
   * @param pages that are there and are written
   * @param growing puts
   * @param bytes that those add
   */
  default boolean take(BitSet pages, int growing, long bytes) {
    return true;
  }

  /** Records that an entry should give up at most, so that the pages kept for it are enough. */
  default int removalsMax() {
    return Integer.MAX_VALUE;
  }

  /** Pages that the present state fills and may fill, 8 KiB each. */
  long pagesUsed();

  long pagesTotal();

  @Override
  void close();
}
