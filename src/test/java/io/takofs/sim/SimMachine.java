package io.takofs.sim;

import io.takofs.server.DataServer;
import java.io.IOException;

/** A server that faults strike: its process, and its pool, which may outlive the process. */
public abstract class SimMachine {
  private final SimScheduler scheduler;
  private final String name;
  private final boolean rightClock;
  private SimProcess process;
  private SimClock clock;
  private long epoch;
  private int persistsUntilKill = -1;

  /**
   * One that has never been started.
   *
   * @param rightClock whether its clock is right
   */
  protected SimMachine(SimScheduler scheduler, String name, boolean rightClock) {
    this.scheduler = scheduler;
    this.name = name;
    this.rightClock = rightClock;
  }

  protected final SimScheduler scheduler() {
    return scheduler;
  }

  public final String endpoint() {
    return "sim:" + name;
  }

  /** The latest incarnation. */
  public final SimProcess process() {
    return process;
  }

  public final SimClock clock() {
    return clock;
  }

  /** Number of its incarnations. */
  protected final long epoch() {
    return epoch;
  }

  public final boolean isAlive() {
    return process != null && process.isAlive();
  }

  /** Starts a new incarnation; false when it was killed before it could serve. */
  public final boolean start() throws IOException {
    SimProcess born = new SimProcess(name);
    process = born;
    clock = rightClock ? new SimClock(scheduler, born) : SimClock.wrong(scheduler, born);
    epoch++;
    try {
      serve(born);
      return true;
    } catch (SimProcess.Killed killed) {
      born.kill();
      return false;
    }
  }

  /** Opens the pool and listens, as {@code born}. */
  protected abstract void serve(SimProcess born) throws IOException;

  /**
   * Lets {@code server} do what is due, again and again.
   *
   * @param pauseMaxNs the longest pause between two times
   */
  protected final void tick(SimProcess owner, DataServer server, long pauseMaxNs) {
    tick(owner, server, 0, pauseMaxNs);
  }

  private void tick(SimProcess owner, DataServer server, long delayNs, long pauseMaxNs) {
    scheduler.schedule(
        owner,
        delayNs,
        () -> tick(owner, server, Math.min(pauseMaxNs, server.tick().pauseNs()), pauseMaxNs));
  }

  /** kill -9, now. */
  public final void kill() {
    process.kill();
  }

  /** kill -9 in the middle of the {@code count}th next step of making something persistent. */
  final void killWhilePersisting(int count) {
    persistsUntilKill = count;
  }

  /** Whether that step is the one that was to be the last; to be asked once in each. */
  protected final boolean diesPersisting() {
    return persistsUntilKill >= 0 && persistsUntilKill-- == 0;
  }

  /**
   * A bit of a byte of file data changes that is not zero; none does when there is no such byte.
   */
  public abstract void flipBit();

  /** Its process ends and its pool is gone, if that may happen now. */
  public abstract void losePool();
}
