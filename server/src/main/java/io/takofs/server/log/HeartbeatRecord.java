package io.takofs.server.log;

import io.takofs.layout.Layout;
import java.nio.ByteBuffer;

/**
 * The record in which a leader's heartbeats arrive at a member, as far as the member has looked.
 *
 * <p>Thread rule: the holder of the replica's monitor.
 */
final class HeartbeatRecord {
  /** The term and the server of a heartbeat that nobody here knows. */
  private static final int NOBODY = -1;

  private ByteBuffer memory = ByteBuffer.allocate(Layout.HEARTBEAT_SIZE); // of the last grant
  private int lastTerm; // the low half of it, as a heartbeat has it
  private int lastCounter;
  private long count;
  private long term;
  private int leader;

  /** The heartbeats of the next grant come to {@code next}. */
  void begin(ByteBuffer next) {
    memory = next;
    memory.putLong(0, 0);
    memory.putLong(Layout.HEARTBEAT_COMMIT_INDEX_OFFSET, 0);
    lastTerm = 0;
    lastCounter = 0;
  }

  /** Whether a heartbeat under {@code intake} has come since the last look. */
  boolean look(Intake intake) {
    int newTerm = memory.getInt(Layout.HEARTBEAT_TERM_OFFSET);
    int newCounter = memory.getInt(Layout.HEARTBEAT_COUNTER_OFFSET);
    if (newTerm == lastTerm && newCounter == lastCounter) {
      return false;
    }
    lastTerm = newTerm;
    lastCounter = newCounter;
    boolean own = newTerm == (int) intake.term();
    // A late store of a former leader may lie over a heartbeat of this one, which counts it.
    count++;
    term = own ? intake.term() : NOBODY;
    leader = own ? intake.leader() : NOBODY;
    return own;
  }

  /** The commit index that the last heartbeat says. */
  long commitIndex() {
    return memory.getLong(Layout.HEARTBEAT_COMMIT_INDEX_OFFSET);
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
