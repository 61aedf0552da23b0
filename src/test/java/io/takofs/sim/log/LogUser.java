package io.takofs.sim.log;

import io.takofs.sim.SimActor;
import io.takofs.sim.SimClock;
import io.takofs.sim.SimNetwork;
import io.takofs.sim.SimProcess;
import java.util.List;

/** Proposes values to whoever leads, and reads before each. */
final class LogUser extends SimActor {
  private static final long PAUSE_MAX_NS = 6_000_000;

  private final SimNetwork network;
  private final List<SimLogMember> group;
  private final int burst;
  private long lastValue;

  /**
   * @param burst values that it proposes at once, at most
   */
  LogUser(SimNetwork network, List<SimLogMember> group, int number, int steps, int burst) {
    super(network.scheduler(), "user" + number, PAUSE_MAX_NS, steps);
    this.network = network;
    this.group = group;
    this.burst = burst;
    this.lastValue = (long) number << 40;
  }

  @Override
  protected SimClock newClock(SimProcess born) {
    return new SimClock(network.scheduler(), born);
  }

  @Override
  protected void begin() {}

  /** Every member may be asked: only one that leads takes the value. */
  @Override
  protected void act() {
    SimLogMember asked = group.get(network.scheduler().random().nextInt(group.size()));
    int values = 1 + network.scheduler().random().nextInt(burst);
    long first = lastValue + 1;
    lastValue += values;
    if (asked.isAlive()) {
      network
          .scheduler()
          .schedule(
              asked.process(),
              0,
              () -> {
                asked.read();
                long value = first;
                while (value < first + values && asked.propose(value)) {
                  value++;
                }
                if (value > first && !isDone()) {
                  countStep();
                }
              });
    }
  }
}
