package io.takofs.sim;

import java.util.ArrayList;
import java.util.List;

/**
 * A process: code that can die at any event, or in the middle of one by throwing {@link Killed}.
 * Its scheduled work never runs afterwards. A process that is paused stands at the end of an event
 * or where it waits: its work runs when it is resumed, while its network card and its clock go on.
 */
public final class SimProcess {
  /** Ends the running event of {@link #victim}, and the process. */
  public static final class Killed extends Error {
    private static final long serialVersionUID = 1;
    private final transient SimProcess victim;

    public Killed(SimProcess victim) {
      super(victim.name + " was killed");
      this.victim = victim;
    }
  }

  private static final long PAUSE_STEP_NS = 1_000_000_000;

  private final String name;
  private final List<Runnable> atDeath = new ArrayList<>();
  private final List<Runnable> held = new ArrayList<>(); // what a paused process has to do
  private boolean alive = true;
  private boolean paused;
  private long slownessNs;

  public SimProcess(String name) {
    this.name = name;
  }

  public String name() {
    return name;
  }

  public boolean isAlive() {
    return alive;
  }

  boolean isPaused() {
    return paused;
  }

  /** Its code goes no further once it is dead. */
  public void checkAlive() {
    if (!alive) {
      throw new Killed(this);
    }
  }

  /** Called where this process has waited: its code goes on when it is not paused, nor dead. */
  public void goOn(SimScheduler scheduler) {
    while (alive && paused) {
      scheduler.step(PAUSE_STEP_NS);
    }
    checkAlive();
  }

  /** Stands until {@link #resume}. */
  public void pause() {
    paused = true;
  }

  /** Does what it had to do meanwhile, and goes on. */
  public void resume(SimScheduler scheduler) {
    if (paused) {
      paused = false;
      List<Runnable> due = List.copyOf(held);
      held.clear();
      due.forEach(action -> scheduler.schedule(this, 0, action));
    }
  }

  /** Everything that it has to do begins {@code nanos} later than it could. */
  void slowDown(long nanos) {
    slownessNs = nanos;
  }

  long slownessNs() {
    return slownessNs;
  }

  /** The effects on others when this process dies. */
  public void atDeath(Runnable action) {
    atDeath.add(action);
  }

  /** Dies at once, without a word to anyone. */
  public void kill() {
    if (alive) {
      alive = false;
      held.clear();
      atDeath.forEach(Runnable::run);
    }
  }

  /** Runs one event of this process. */
  void run(Runnable action) {
    if (!alive) {
      return;
    }
    if (paused) {
      held.add(action);
      return;
    }
    try {
      action.run();
    } catch (Killed killed) {
      if (killed.victim != this) {
        throw killed;
      }
      kill();
    }
  }
}
