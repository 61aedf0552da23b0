package io.takofs.sim;

import io.takofs.memory.MappedMemory;
import io.takofs.server.DataServer;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;

/** A server that faults strike: its process, and its pool, which may outlive the process. */
public abstract class SimMachine {
  private final SimScheduler scheduler;
  private final String name;
  private final boolean rightClock;
  private SimProcess process;
  private SimClock clock;
  private long epoch;
  private int persistsUntilKill = -1;
  private long ticking; // of the calls of tick, the last one
  private RuntimeException failure;

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
   * Lets {@code server} do what is due, now and whenever it wants, until this is called again.
   *
   * @param pauseMaxNs the longest pause between two times
   */
  protected final void tick(SimProcess owner, DataServer server, long pauseMaxNs) {
    tick(owner, server, 0, pauseMaxNs, ++ticking);
  }

  private void tick(
      SimProcess owner, DataServer server, long delayNs, long pauseMaxNs, long number) {
    scheduler.schedule(
        owner,
        delayNs,
        () -> {
          if (number == ticking) {
            long pauseNs = Math.min(pauseMaxNs, tick(server));
            if (number == ticking) {
              tick(owner, server, pauseNs, pauseMaxNs, number);
            }
          }
        });
  }

  /** Whoever let this happen while it waited may go on after what is thrown, so it is kept. */
  private long tick(DataServer server) {
    try {
      return server.tick().pauseNs();
    } catch (RuntimeException e) {
      failure = e;
      throw e;
    }
  }

  /** Fails when the server has failed. */
  public final void checkSound() {
    if (failure != null) {
      throw new AssertionError("server " + name + " failed", failure);
    }
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

  /** The id that the map of the cluster has for it. */
  public abstract int id();

  /** The memory of an arena, as it is now: checksums, and then extents. */
  public abstract ByteBuffer arena(int index);

  /** All of its arenas. */
  public abstract List<MappedMemory> arenas();

  /** Slabs of its arenas that it has handed out, while it runs. */
  public abstract int slabsHandedOut();

  /** The bits of its arenas that have changed by themselves. */
  public abstract SimFlips flips();

  /** A bit of file data changes, if that may happen. */
  public abstract void flipBit();

  /** Its process ends and its pool is gone, if that may happen now. */
  public abstract void losePool();
}
