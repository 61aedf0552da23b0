package io.takofs.server.log;

import io.takofs.server.segment.Chain;
import io.takofs.server.segment.Segment;
import java.nio.ByteBuffer;

/** A simulation asks here for entries of a log, whose payloads repeat a value. */
public final class LogEntries {
  private LogEntries() {}

  /** Whether a leader may write to the member. */
  public static boolean isGranted(LogReplica replica) {
    synchronized (replica) {
      return replica.isGranted();
    }
  }

  /**
   * Whether the log had the entry when its member last looked.
   *
   * @param value of the entry; less its term, below 0, for one with which a leader began
   */
  public static boolean has(LogReplica replica, long index, long value) {
    synchronized (replica) {
      Chain chain = replica.chain();
      if (replica.trimmedIndex() >= index || chain.lastIndex() < index) {
        return false;
      }
      Segment segment = chain.segments().get(chain.placeOf(index));
      int offset = segment.offsetOf(index);
      if (!segment.isEntry(offset)) {
        return value == -segment.entryTerm(offset);
      }
      ByteBuffer payload = segment.payload(offset);
      return payload.getLong(payload.position()) == value;
    }
  }
}
