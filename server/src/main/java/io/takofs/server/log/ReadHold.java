package io.takofs.server.log;

import io.takofs.base.Clock;
import io.takofs.base.TakoException;
import io.takofs.proto.LogPosition;
import io.takofs.proto.PrepareLog;
import io.takofs.proto.Status;

/**
 * Keeps a member from promising anything to others while a leader may still answer reads by its
 * lease: for the shortest election time after it has noticed a heartbeat, by its own clock.
 *
 * <p>Thread rule: the holder of the replica's monitor.
 */
final class ReadHold {
  private final LogReplica replica;
  private final long holdNs; // 0 where leases are not wanted
  private final Clock clock;
  private long beatsSeen;
  private long sinceNs;

  ReadHold(LogReplica replica, long holdNs, Clock clock) {
    this.replica = replica;
    this.holdNs = holdNs;
    this.clock = clock;
    this.sinceNs = clock.nanoTime(); // an earlier process may have taken a heartbeat just now
  }

  /** Looks whether a heartbeat has come. */
  void look() {
    if (replica.beats() != beatsSeen) {
      beatsSeen = replica.beats();
      sinceNs = clock.nanoTime();
    }
  }

  /**
   * Promises, unless a leader may still answer reads by its lease. A heartbeat that is noticed only
   * when the leader has been shut out holds as well: then the promise is made, and the candidate,
   * which is not told of it, has to ask again.
   *
   * @throws TakoException BUSY while a leader counts on this member; as {@link LogReplica#prepare}
   */
  LogPosition promise(PrepareLog request) throws TakoException {
    check(request);
    LogPosition position = replica.prepare(request);
    check(request);
    return position;
  }

  /**
   * Checks that no leader counts on this member, but one that wants {@code request} itself.
   *
   * @throws TakoException BUSY
   */
  private void check(PrepareLog request) throws TakoException {
    if (holdNs == 0) {
      return;
    }
    replica.scan();
    look();
    boolean released = replica.wasBeatOf(request.getReleasedTerm(), request.getCandidate());
    if (!released && clock.nanoTime() - sinceNs < holdNs) {
      throw new TakoException(
          Status.BUSY, "member " + replica.server() + " lets the leader read for a moment yet");
    }
  }
}
