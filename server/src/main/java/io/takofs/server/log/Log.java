package io.takofs.server.log;

import io.takofs.base.TakoException;
import java.nio.ByteBuffer;

/**
 * A log of entries, applied in commit order by one state machine.
 *
 * <p>Thread rule: one thread at a time, the owner's.
 */
public interface Log extends AutoCloseable {
  /** Receives committed entries, each once, in index order. */
  @FunctionalInterface
  interface CommitHandler {
    /**
     * @param term of the leader that first proposed the entry
     * @param payload read-only and valid only during the call; empty for the entry with which a
     *     leader begins its term, which changes nothing
     */
    void onCommit(long index, long term, ByteBuffer payload);
  }

  /**
   * Begins {@code term}, from 1, which no other leader has: entries proposed from now on are of it.
   * Called before the first {@link #propose}.
   *
   * @throws TakoException with status STALE_TERM when the log has entries of a later term; nothing
   *     has changed then
   */
  void lead(long term) throws TakoException;

  /** The term of the last {@link #lead}; 0 before. */
  long term();

  /**
   * Appends {@code payload} (1 byte to FRAME_PAYLOAD_MAX) and returns its index at once. It is
   * committed, and safe, when the handler of a later {@link #poll} receives it.
   *
   * <p>After any other exception than a {@link TakoException}, of this or of {@link #poll}, nothing
   * more may be proposed or polled: the entry may be in the log in part, and would be committed
   * with the next one.
   *
   * @throws TakoException with status NO_SPACE when the log zone is full until the next {@link
   *     #trim}, INVALID_ARGUMENT for another length; nothing has changed then
   */
  long propose(ByteBuffer payload) throws TakoException;

  /**
   * Hands newly committed entries to {@code handler}; returns how many. Never blocks: what others
   * have to acknowledge is committed by a later call.
   */
  int poll(CommitHandler handler);

  /** Highest index proposed; 0 when empty. */
  long lastIndex();

  /** Highest index committed; changes in {@link #poll} only. */
  long commitIndex();

  /** Bytes appended since the log began, for deciding when to checkpoint. */
  long appendedBytes();

  /** Segments that hold entries. */
  int segmentCount();

  /** Segments that may still be filled before a {@link #trim} is needed. */
  int freeSegmentCount();

  /**
   * Whether segments are short, and a checkpoint of what was delivered would free some: the owner
   * need not wait until entries find no room.
   */
  default boolean wantsTrim() {
    return false;
  }

  /**
   * Whether this log cannot go on before there is a checkpoint of what was delivered: the log of a
   * leader begins after it, or has no room here before.
   */
  default boolean needsCheckpoint() {
    return false;
  }

  /** A durable checkpoint covers everything up to {@code index}: segments wholly below may go. */
  void trim(long index);

  @Override
  void close();
}
