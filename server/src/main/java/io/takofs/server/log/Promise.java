package io.takofs.server.log;

import io.takofs.base.TakoException;
import io.takofs.layout.Layout;
import io.takofs.memory.Zeros;
import io.takofs.proto.Status;
import io.takofs.server.segment.Crc32cScratch;
import io.takofs.server.segment.LogZone;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;

/**
 * The promise of a member of a group, kept beside its log and never taken back: {@code PROMISE} in
 * layout.def. It is persistent before the member acts on it.
 *
 * @param term no leader of an earlier term is let in
 * @param candidate the server that leads in that term if any does; 0 for none
 * @param acceptedTerm term of the leader whose log the member has adopted. Logs are compared by
 *     this, and not by the term of their last entry: an entry may have been written again by a
 *     leader that is earlier than its writer's successor
 * @param epoch highest epoch of a configuration that was acted on here
 * @param grant number of the last grant
 * @param adoptedGrant grant under which the newest segments of the log were written
 * @param adoptedSequence of the first segment of that grant: others from there on are no part of
 *     the log
 * @param oldestSequence segments before this one are no part of the log
 * @param committed entries up to here are committed, and the log here may end before them; 0 for
 *     none
 * @param counted entries up to here were counted by the leader of {@code acceptedTerm} as written
 *     here, and the log here may end before them; 0 for none
 * @param writeSequence how often it was written
 */
record Promise(
    long term,
    int candidate,
    long acceptedTerm,
    long epoch,
    long grant,
    long adoptedGrant,
    long adoptedSequence,
    long oldestSequence,
    long committed,
    long counted,
    long writeSequence) {

  static final Promise NONE = new Promise(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);

  Promise promised(long newTerm, int newCandidate, long newEpoch) {
    return new Promise(
        newTerm,
        newCandidate,
        acceptedTerm,
        Math.max(epoch, newEpoch),
        grant,
        adoptedGrant,
        adoptedSequence,
        oldestSequence,
        committed,
        counted,
        writeSequence + 1);
  }

  Promise granted() {
    return new Promise(
        term,
        candidate,
        acceptedTerm,
        epoch,
        grant + 1,
        adoptedGrant,
        adoptedSequence,
        oldestSequence,
        committed,
        counted,
        writeSequence + 1);
  }

  /**
   * The log of the leader of {@link #term} is that of this member from now on. It has all that is
   * committed, so what was known of this member's former log does not matter any more.
   *
   * @param firstSequence of the first segment that came under the last grant
   * @param whole whether nothing of what was there before remains
   */
  Promise adopted(long firstSequence, boolean whole, long newEpoch) {
    return new Promise(
        term,
        candidate,
        term,
        Math.max(epoch, newEpoch),
        grant,
        grant,
        firstSequence,
        whole ? firstSequence : oldestSequence,
        0,
        0,
        writeSequence + 1);
  }

  /**
   * With more that is known of entries.
   *
   * @param nowCommitted as {@link #committed}
   * @param nowCounted as {@link #counted}
   */
  Promise knowing(long nowCommitted, long nowCounted) {
    return new Promise(
        term,
        candidate,
        acceptedTerm,
        epoch,
        grant,
        adoptedGrant,
        adoptedSequence,
        oldestSequence,
        Math.max(committed, nowCommitted),
        Math.max(counted, nowCounted),
        writeSequence + 1);
  }

  /** Whether it knows of an entry after {@code lastIndex} what {@code other} does not. */
  boolean knowsMoreThan(Promise other, long lastIndex) {
    return committed > Math.max(lastIndex, other.committed)
        || counted > Math.max(lastIndex, other.counted);
  }

  /**
   * The promise of a member that has forgotten all, and begins anew as one that no configuration up
   * to {@code epoch} counts.
   *
   * @param grant all numbers of grants that were ever given are lower or equal
   */
  static Promise anew(long epoch, long grant) {
    return new Promise(0, 0, 0, epoch, grant, 0, 0, 0, 0, 0, 1);
  }

  /** Makes both copies unreadable, durably: a member that has neither does not vote. */
  static void destroy(LogZone zone) {
    for (int slot = 0; slot < 2; slot++) {
      ByteBuffer memory = zone.slot(slot);
      for (int i = 0; i < Layout.PROMISE_SIZE; i += Long.BYTES) {
        memory.putLong(Layout.PROMISE_OFFSET + i, -1);
      }
      zone.persist(slot, Layout.PROMISE_OFFSET, Layout.PROMISE_SIZE);
    }
  }

  /**
   * Writes both copies, each made persistent before the next: first the one that is not the newest
   * whole one, which a crash may have left alone with the present truth.
   */
  void write(LogZone zone, int logId, Crc32cScratch crc) {
    boolean secondIsNewest =
        isNewer(decode(zone.slot(1), logId, crc), decode(zone.slot(0), logId, crc));
    writeCopy(zone, secondIsNewest ? 0 : 1, logId, crc);
    writeCopy(zone, secondIsNewest ? 1 : 0, logId, crc);
  }

  private void writeCopy(LogZone zone, int slot, int logId, Crc32cScratch crc) {
    encode(zone.slot(slot), logId, crc);
    VarHandle.releaseFence();
    zone.persist(slot, Layout.PROMISE_OFFSET, Layout.PROMISE_SIZE);
  }

  private static boolean isNewer(Promise promise, Promise than) {
    return promise != null && (than == null || promise.writeSequence > than.writeSequence);
  }

  /**
   * The newest whole copy; {@link #NONE} in a zone that never had one.
   *
   * @throws TakoException CORRUPT when no copy is whole: a member that may have forgotten a promise
   *     must not make another one
   */
  static Promise read(LogZone zone, int logId, Crc32cScratch crc) throws TakoException {
    Promise first = decode(zone.slot(0), logId, crc);
    Promise second = decode(zone.slot(1), logId, crc);
    Promise newest = isNewer(second, first) ? second : first;
    if (newest == null) {
      throw new TakoException(
          Status.CORRUPT,
          "what this member of log "
              + logId
              + " has promised cannot be read: all copies are damaged; replace the member");
    }
    return newest;
  }

  private void encode(ByteBuffer memory, int logId, Crc32cScratch crc) {
    int at = Layout.PROMISE_OFFSET;
    Zeros.write(memory, at, Layout.PROMISE_SIZE);
    memory.putInt(at + Layout.PROMISE_MAGIC_OFFSET, Layout.PROMISE_MAGIC);
    memory.putInt(at + Layout.PROMISE_LOG_ID_OFFSET, logId);
    memory.putLong(at + Layout.PROMISE_TERM_OFFSET, term);
    memory.putInt(at + Layout.PROMISE_CANDIDATE_OFFSET, candidate);
    memory.putLong(at + Layout.PROMISE_ACCEPTED_TERM_OFFSET, acceptedTerm);
    memory.putLong(at + Layout.PROMISE_CONFIG_EPOCH_OFFSET, epoch);
    memory.putLong(at + Layout.PROMISE_GRANT_OFFSET, grant);
    memory.putLong(at + Layout.PROMISE_ADOPTED_GRANT_OFFSET, adoptedGrant);
    memory.putLong(at + Layout.PROMISE_ADOPTED_SEQUENCE_OFFSET, adoptedSequence);
    memory.putLong(at + Layout.PROMISE_OLDEST_SEQUENCE_OFFSET, oldestSequence);
    memory.putLong(at + Layout.PROMISE_COMMITTED_OFFSET, committed);
    memory.putLong(at + Layout.PROMISE_COUNTED_OFFSET, counted);
    memory.putLong(at + Layout.PROMISE_WRITE_SEQUENCE_OFFSET, writeSequence);
    memory.putInt(at + Layout.PROMISE_CRC32C_OFFSET, crcOf(memory, crc));
  }

  private static Promise decode(ByteBuffer memory, int logId, Crc32cScratch crc) {
    int at = Layout.PROMISE_OFFSET;
    if (Zeros.are(memory, at, Layout.PROMISE_SIZE)) {
      return NONE;
    }
    if (memory.getInt(at + Layout.PROMISE_CRC32C_OFFSET) != crcOf(memory, crc)
        || memory.getInt(at + Layout.PROMISE_MAGIC_OFFSET) != Layout.PROMISE_MAGIC
        || memory.getInt(at + Layout.PROMISE_LOG_ID_OFFSET) != logId) {
      return null;
    }
    return new Promise(
        memory.getLong(at + Layout.PROMISE_TERM_OFFSET),
        memory.getInt(at + Layout.PROMISE_CANDIDATE_OFFSET),
        memory.getLong(at + Layout.PROMISE_ACCEPTED_TERM_OFFSET),
        memory.getLong(at + Layout.PROMISE_CONFIG_EPOCH_OFFSET),
        memory.getLong(at + Layout.PROMISE_GRANT_OFFSET),
        memory.getLong(at + Layout.PROMISE_ADOPTED_GRANT_OFFSET),
        memory.getLong(at + Layout.PROMISE_ADOPTED_SEQUENCE_OFFSET),
        memory.getLong(at + Layout.PROMISE_OLDEST_SEQUENCE_OFFSET),
        memory.getLong(at + Layout.PROMISE_COMMITTED_OFFSET),
        memory.getLong(at + Layout.PROMISE_COUNTED_OFFSET),
        memory.getLong(at + Layout.PROMISE_WRITE_SEQUENCE_OFFSET));
  }

  private static int crcOf(ByteBuffer memory, Crc32cScratch crc) {
    return crc.ofRange(memory.duplicate(), Layout.PROMISE_OFFSET, Layout.PROMISE_CRC32C_OFFSET);
  }
}
