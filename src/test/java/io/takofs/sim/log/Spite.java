package io.takofs.sim.log;

import io.takofs.sim.SimNetwork;
import io.takofs.sim.SimProcess;
import java.util.Random;

/**
 * Strikes a member at the moments that matter: when it begins to lead, when a connection stands,
 * when its log is adopted. By chance alone a member seldom ends between two steps that follow one
 * another at once.
 */
final class Spite {
  private static final long SOON_NS = 1_000_000;
  private static final long PAUSE_MAX_NS = 300_000_000;

  private final SimNetwork network;
  private double chance;

  /**
   * @param chance that something strikes at such a moment
   */
  Spite(SimNetwork network, double chance) {
    this.network = network;
    this.chance = chance;
  }

  /** Nothing strikes any more. */
  void end() {
    chance = 0;
  }

  /** A moment that matters to {@code process}. */
  void strike(SimProcess process) {
    Random random = network.scheduler().random();
    if (chance == 0 || random.nextDouble() >= chance) {
      return;
    }
    int kind = random.nextInt(4);
    long pauseNs = network.scheduler().delayNs(0, PAUSE_MAX_NS);
    network.schedule(
        random.nextBoolean() ? 0 : network.scheduler().delayNs(0, SOON_NS),
        () -> {
          if (chance == 0 || !process.isAlive()) {
            return;
          }
          switch (kind) {
            case 0 -> process.kill();
            case 1 -> network.links().cutOff(process);
            case 2 -> network.breakOne();
            default -> {
              process.pause();
              network.schedule(pauseNs, () -> process.resume(network.scheduler()));
            }
          }
        });
  }
}
