package io.takofs.sim;

import java.util.ArrayList;
import java.util.List;

/**
 * A process: code that can die at any event, or in the middle of one by throwing {@link Killed}.
 * Its scheduled work never runs afterwards.
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

  private final String name;
  private final List<Runnable> atDeath = new ArrayList<>();
  private boolean alive = true;

  public SimProcess(String name) {
    this.name = name;
  }

  public String name() {
    return name;
  }

  public boolean isAlive() {
    return alive;
  }

  /** Called where this process may have been waiting: its code goes no further once it is dead. */
  void checkAlive() {
    if (!alive) {
      throw new Killed(this);
    }
  }

  /** The effects on others when this process dies. */
  void atDeath(Runnable action) {
    atDeath.add(action);
  }

  /** Dies at once, without a word to anyone. */
  public void kill() {
    if (alive) {
      alive = false;
      atDeath.forEach(Runnable::run);
    }
  }

  /** Runs one event of this process. */
  void run(Runnable action) {
    if (!alive) {
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
