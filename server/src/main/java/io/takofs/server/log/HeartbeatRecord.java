package io.takofs.server.log;

import io.takofs.layout.Layout;
import io.takofs.server.segment.Crc32cScratch;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;

/**
 * The record in which a leader's heartbeats arrive at a member, as far as the member has looked:
 * {@code HEARTBEAT} in layout.def.
 *
 * <p>Thread rule: the holder of the replica's monitor.
 */
final class HeartbeatRecord {
  /** The term and the server of a heartbeat that nobody here knows. */
  private static final int NOBODY = -1;

  private final Crc32cScratch crc;
  private final ByteBuffer seen; // as it was at the last look at which it had changed
  private final ByteBuffer next; // a copy: the leader may be writing to the record
  private ByteBuffer memory = ByteBuffer.allocate(Layout.HEARTBEAT_SIZE); // of the last grant
  private long count;
  private long term;
  private int leader;
  private long commitIndex;
  private long countedIndex;

  HeartbeatRecord(Crc32cScratch crc) {
    this.crc = crc;
    seen = ByteBuffer.allocateDirect(Layout.HEARTBEAT_SIZE);
    next = ByteBuffer.allocateDirect(Layout.HEARTBEAT_SIZE);
  }

  /**
   * Writes heartbeat {@code beat} of the leader of {@code term} at {@code at}.
   *
   * @param countedIndex the leader counts frames up to it as written to the member
   */
  static void write(
      ByteBuffer memory,
      int at,
      long term,
      long beat,
      long commitIndex,
      long countedIndex,
      Crc32cScratch crc) {
    memory.putInt(at + Layout.HEARTBEAT_TERM_OFFSET, (int) term);
    memory.putInt(at + Layout.HEARTBEAT_COUNTER_OFFSET, (int) beat);
    memory.putLong(at + Layout.HEARTBEAT_COMMIT_INDEX_OFFSET, commitIndex);
    memory.putLong(at + Layout.HEARTBEAT_COUNTED_INDEX_OFFSET, countedIndex);
    memory.putInt(at + Layout.HEARTBEAT_CRC32C_OFFSET, checksum(memory, at, crc));
  }

  private static int checksum(ByteBuffer memory, int at, Crc32cScratch crc) {
    return crc.ofRange(memory.duplicate(), at, Layout.HEARTBEAT_CRC32C_OFFSET);
  }

  /** The heartbeats of the next grant come to {@code record}. */
  void begin(ByteBuffer record) {
    memory = record;
    seen.order(record.order());
    for (int i = 0; i < Layout.HEARTBEAT_SIZE; i += Long.BYTES) {
      memory.putLong(i, 0);
      seen.putLong(i, 0);
    }
    commitIndex = 0;
    countedIndex = 0;
  }

  /** Whether a heartbeat under {@code intake} has come since the last look. */
  boolean look(Intake intake) {
    next.put(0, memory, 0, Layout.HEARTBEAT_SIZE);
    if (next.equals(seen)) {
      return false;
    }
    seen.put(0, next, 0, Layout.HEARTBEAT_SIZE);
    VarHandle.acquireFence(); // the frames that it counts are to be seen after it
    boolean own =
        seen.getInt(Layout.HEARTBEAT_TERM_OFFSET) == (int) intake.term()
            && seen.getInt(Layout.HEARTBEAT_CRC32C_OFFSET) == checksum(seen, 0, crc);
    // A late store of a former leader may lie over a heartbeat of this one, which counts it; or a
    // part of this one is here, and all of it at the next look.
    count++;
    term = own ? intake.term() : NOBODY;
    leader = own ? intake.leader() : NOBODY;
    if (own) {
      commitIndex = seen.getLong(Layout.HEARTBEAT_COMMIT_INDEX_OFFSET);
      countedIndex = seen.getLong(Layout.HEARTBEAT_COUNTED_INDEX_OFFSET);
    }
    return own;
  }

  /** The commit index that the last heartbeat under the grant says; 0 before there is one. */
  long commitIndex() {
    return commitIndex;
  }

  /** The leader counts frames up to this index as written here: all of them have arrived. */
  long countedIndex() {
    return countedIndex;
  }

  /** Changes of the record that were seen: it grows when there was a new heartbeat. */
  long count() {
    return count;
  }

  /** Whether the last of them was of the leader of {@code asked}, or of {@code server}. */
  boolean wasOf(long asked, int server) {
    return count > 0 && (term == asked || leader == server);
  }
}
