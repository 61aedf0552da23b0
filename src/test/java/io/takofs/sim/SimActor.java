package io.takofs.sim;

/**
 * Somebody who uses the servers, in a process of its own: takes turns until it has made all of its
 * steps, and begins anew when its process is killed.
 */
public abstract class SimActor {
  private final SimScheduler scheduler;
  private final String name;
  private final long pauseMaxNs;
  private SimProcess process;
  private SimClock clock;
  private int stepsLeft;
  private int lives;

  /**
   * One that has not begun.
   *
   * @param pauseMaxNs the longest pause between two turns
   */
  protected SimActor(SimScheduler scheduler, String name, long pauseMaxNs, int steps) {
    this.scheduler = scheduler;
    this.name = name;
    this.pauseMaxNs = pauseMaxNs;
    this.stepsLeft = steps;
  }

  public final String name() {
    return name;
  }

  protected final SimScheduler scheduler() {
    return scheduler;
  }

  /** The present one. */
  public final SimProcess process() {
    return process;
  }

  public final SimClock clock() {
    return clock;
  }

  public final boolean isDone() {
    return stepsLeft == 0;
  }

  protected final int stepsLeft() {
    return stepsLeft;
  }

  /** One step less is left. */
  protected final void countStep() {
    stepsLeft--;
  }

  /** Begins, or begins anew after a kill, with another process. */
  public final void start() {
    process = new SimProcess(name + "-" + ++lives);
    clock = newClock(process);
    begin();
    scheduleTurn();
  }

  /** Its process is killed, and it begins anew, unless it has nothing to do any more. */
  final void restart() {
    if (!isDone()) {
      process.kill();
      start();
    }
  }

  private void scheduleTurn() {
    scheduler.schedule(process, scheduler.delayNs(1_000, pauseMaxNs), this::turn);
  }

  private void turn() {
    SimProcess own = process;
    if (!isDone()) {
      act();
      own.checkAlive(); // its end is lost where another failure was on its way already
      scheduleTurn();
    }
  }

  /** The clock of a new process. */
  protected abstract SimClock newClock(SimProcess born);

  /** Gets what it needs in a new process. */
  protected abstract void begin();

  /** Takes a turn, which may be a step. */
  protected abstract void act();
}
