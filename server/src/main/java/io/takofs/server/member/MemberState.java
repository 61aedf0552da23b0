package io.takofs.server.member;

import io.takofs.base.TakoException;
import io.takofs.proto.Status;
import io.takofs.server.log.LogMember;
import io.takofs.server.log.LogReplica;
import io.takofs.server.log.ReplicatedLog;

/**
 * Whether a member has the state that its log continues. It has none while it takes over the
 * checkpoint of another member, and leads nobody then.
 *
 * <p>Thread rule: one thread at a time changes it; any may ask. Tests replace {@link #check} by a
 * weaker one.
 */
public class MemberState {
  private final LogReplica replica;
  private final ReplicatedLog log;
  private final LogMember member;
  private final Runnable onGiveUp;
  private volatile boolean givenUp;

  /**
   * @param onGiveUp has whoever uses the state give it up: when it returns, nobody applies entries,
   *     makes checkpoints or gives up what those cover. It may wait.
   * @param has whether there is a state
   */
  public MemberState(
      LogReplica replica, ReplicatedLog log, LogMember member, Runnable onGiveUp, boolean has) {
    this.replica = replica;
    this.log = log;
    this.member = member;
    this.onGiveUp = onGiveUp;
    this.givenUp = !has;
    if (givenUp) {
      member.setUnable();
    }
  }

  /** Whether the checkpoint of another member is needed. */
  public final boolean needsCheckpoint() {
    return replica.damage() == null && (givenUp || replica.needsCheckpoint());
  }

  /** The checkpoint must have all entries up to here. */
  public final long neededIndex() {
    return replica.neededIndex();
  }

  /** Whether there is no state. */
  public final boolean isGivenUp() {
    return givenUp;
  }

  /**
   * Gives up the state for a checkpoint that has all entries up to {@code index}, where that is
   * still needed.
   *
   * @throws TakoException BUSY when this member leads or is about to; UNAVAILABLE when another
   *     leader has continued the log since the checkpoint was asked for, so that none is needed, or
   *     a newer one. The state is there as before, or given up; a caller that did not find it so
   *     takes the last checkpoint here back
   */
  public final void giveUp(long index) throws TakoException {
    boolean hadState = !givenUp;
    check(index, hadState);
    if (hadState) {
      if (!member.setUnable()) {
        throw new TakoException(Status.BUSY, "this member leads, or is about to: it lacks nothing");
      }
      givenUp = true;
      onGiveUp.run();
      check(index, true); // only now does nobody make checkpoints here, which give up entries
    }
  }

  /**
   * Checks that a checkpoint with all entries up to {@code index} is still what is needed.
   *
   * @param hadState whether there was a state when the checkpoint was asked for: else any is needed
   * @throws TakoException UNAVAILABLE when it is not
   */
  protected void check(long index, boolean hadState) throws TakoException {
    if (replica.damage() != null || (hadState && !replica.needsCheckpoint())) {
      throw new TakoException(
          Status.UNAVAILABLE, "a leader has continued the log here: no checkpoint is needed");
    }
    long needed = neededIndex();
    if (index < needed) {
      throw new TakoException(
          Status.UNAVAILABLE,
          "the checkpoint has entries up to %d, and by now one up to %d is needed"
              .formatted(index, needed));
    }
  }

  /**
   * There is a state, with all entries up to {@code index}; what comes after them is delivered,
   * again maybe.
   *
   * @param use has the owner use it
   */
  public final void take(long index, Runnable use) {
    log.skipTo(index);
    log.rewind(index);
    use.run();
    givenUp = false;
    member.setAble();
  }

  /**
   * Begins anew with an empty log and an empty state, like a new server, because what is here is
   * damaged; as {@link LogReplica#renew}.
   *
   * @param format has an empty state replace the durable one
   * @param use has the owner use it
   * @return false when a former leader may still write to the log: there is no state until this is
   *     asked for again
   */
  public final boolean beginAnew(long epoch, LogReplica.Renewal format, LogReplica.Renewal use)
      throws TakoException {
    givenUp = true; // whatever this member is: it cannot lead
    member.setUnable();
    onGiveUp.run();
    LogReplica.Renewal begin =
        () -> {
          format.run();
          log.restart();
        };
    if (!replica.renew(epoch, begin)) {
      return false;
    }
    use.run();
    givenUp = false;
    member.setAble();
    return true;
  }
}
