package io.takofs.server.log;

import io.takofs.base.TakoException;
import io.takofs.proto.LogPosition;
import io.takofs.proto.LogSegment;
import io.takofs.server.segment.Chain;
import io.takofs.transport.QueuePair;
import java.util.ArrayList;
import java.util.List;

/**
 * The log of another member that is better than this candidate's: the segments that are missing
 * here are read one-sided.
 *
 * <p>Thread rule: the holder of the replica's monitor.
 */
final class BetterLog {
  private final LogReplica replica;
  private final LogPeers peers;
  private long attempt;
  private SegmentReader reader; // null until there is a connection

  BetterLog(LogReplica replica, LogPeers peers) {
    this.replica = replica;
    this.peers = peers;
  }

  /**
   * Begins to read.
   *
   * @param from the member that has it
   * @param position what it said that it has
   * @param term in which this candidate stands
   * @param failed is run when this cannot be: a checkpoint has to come before, or there is no room
   */
  void begin(int from, LogTransport via, LogPosition position, long term, Runnable failed) {
    attempt++;
    long begun = attempt;
    peers.connect(
        from,
        via,
        term,
        0,
        pair -> {
          synchronized (replica) {
            if (attempt == begun && pair != null) {
              onReadable(via, position, pair, failed);
            } else if (pair != null) {
              pair.close();
            }
          }
        });
  }

  private void onReadable(LogTransport via, LogPosition position, QueuePair pair, Runnable failed) {
    List<LogSegment> missing =
        afterCheckpoint(missing(replica.chain(), position.getSegmentsList()));
    if (!missing.isEmpty() && !replica.continuesWith(missing.get(0))) {
      pair.close();
      failed.run();
      return;
    }
    List<Integer> slots = new ArrayList<>();
    for (int i = 0; i < missing.size(); i++) {
      Integer slot = replica.takeSlot();
      if (slot != null) {
        slots.add(slot);
      }
    }
    reader = new SegmentReader(via.memory(), pair, missing, slots);
    if (slots.size() < missing.size()) {
      lackRoom(missing.size(), position);
      failed.run();
    }
  }

  /** A checkpoint with what is committed of that log takes the place of what has no room. */
  private void lackRoom(int count, LogPosition position) {
    LogSegment last = LogSegment.getDefaultInstance(); // there may be none
    for (LogSegment each : position.getSegmentsList()) {
      if (each.getLastIndex() <= position.getCommitIndex()) {
        last = each;
      }
    }
    replica.lackRoom(count, last.getLastIndex(), last.getChain());
  }

  /** Without those of which this member's checkpoint has all, but for the last one. */
  private List<LogSegment> afterCheckpoint(List<LogSegment> segments) {
    int first = 0;
    while (first < segments.size() - 1
        && segments.get(first).getLastIndex() <= replica.checkpointIndex()) {
      first++;
    }
    return segments.subList(first, segments.size());
  }

  /** Those of {@code theirs} that come after the last one that is in {@code mine}, too. */
  static List<LogSegment> missing(Chain mine, List<LogSegment> theirs) {
    int first = theirs.size();
    while (first > 0
        && !SegmentDescription.isSame(
            mine.get(theirs.get(first - 1).getSequence()), theirs.get(first - 1))) {
      first--;
    }
    return theirs.subList(first, theirs.size());
  }

  /** Goes on reading; returns whether anything came. */
  boolean read() {
    if (reader == null) {
      return false;
    }
    boolean came = false;
    reader.read();
    while (replica.transports().poll(reader::onCompletion, 1) > 0) {
      came = true;
      reader.read();
    }
    return came;
  }

  boolean hasFailed() {
    return reader != null && reader.hasFailed();
  }

  boolean isDone() {
    return reader != null && reader.isDone();
  }

  /**
   * Makes what was read a part of the log here, when all of it is.
   *
   * @throws TakoException as {@link LogReplica#takeOver}
   */
  void take(long term) throws TakoException {
    if (!reader.segments().isEmpty()) {
      replica.takeOver(term, reader.segments(), reader.slots());
    }
    reader.slots().clear();
    end();
  }

  /** Reads no more, and gives back what was not taken. */
  void end() {
    attempt++;
    if (reader != null) {
      reader.pair().close();
      replica.giveSlots(List.copyOf(reader.slots()));
      reader = null;
    }
  }
}
