package io.takofs.server.slabs;

import io.takofs.config.ConfigKeys;
import io.takofs.config.TakoConfig;
import java.time.Duration;

/**
 * The configuration values that repair uses, and what else copies and verifies slabs.
 *
 * @param deadInterval silence after which a server counts as dead
 * @param startDelay time after the start of a leader in which no silent server counts as dead,
 *     unless all have answered
 * @param bandwidth bytes a second that all copies together may read; 0 for no limit
 * @param rebalance whether copies move from full servers to emptier ones
 * @param scrubPeriod time in which each server verifies all of its copies once; 0 for never
 * @param scrubBandwidth bytes a second that each server verifies; 0 for no limit
 */
public record RepairSettings(
    Duration deadInterval,
    Duration startDelay,
    long bandwidth,
    boolean rebalance,
    Duration scrubPeriod,
    long scrubBandwidth) {
  /** The settings of {@code config}. */
  public static RepairSettings of(TakoConfig config) {
    return new RepairSettings(
        config.get(ConfigKeys.DEAD_INTERVAL),
        config.get(ConfigKeys.REPAIR_START_DELAY),
        config.get(ConfigKeys.REPAIR_BANDWIDTH),
        config.get(ConfigKeys.REBALANCE),
        config.get(ConfigKeys.SCRUB_PERIOD),
        config.get(ConfigKeys.SCRUB_BANDWIDTH));
  }

  /** The settings of a server whose configuration says nothing of them. */
  public static RepairSettings defaults() {
    return of(new TakoConfig());
  }
}
