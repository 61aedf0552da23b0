package io.takofs.server.loggroup;

import io.takofs.base.Clock;
import io.takofs.server.metrics.OperationTimes;
import io.takofs.server.namespace.StateMachine;
import java.util.List;

/**
 * The parts that one replicated log owns: its storage, the state machine that applies its entries,
 * the sessions, and the counters. It knows neither transports nor file data.
 *
 * <p>Thread rule: the holder of the data server's lock.
 */
public final class LogGroup {
  final Clock clock;
  final ServerSettings settings;
  final GroupStorage storage;
  final Counters counters = new Counters();
  final OperationTimes times = new OperationTimes();
  private final StateMachine machine;
  private final Journal journal;
  private final ClientTable sessions;
  private final SafeMode safeMode;

  /**
   * @param arenaLengths bytes of each arena of the data zone, in the order extents name them
   */
  public LogGroup(
      Clock clock, ServerSettings settings, GroupStorage storage, List<Long> arenaLengths) {
    this.clock = clock;
    this.settings = settings;
    this.storage = storage;
    this.machine = new StateMachine(storage.store(), arenaLengths, settings.limits());
    this.journal =
        new Journal(
            clock, storage.log(), storage.store(), machine, counters, settings.checkpointBytes());
    this.sessions = new ClientTable(clock);
    this.safeMode = new SafeMode(machine);
  }

  public Clock clock() {
    return clock;
  }

  public ServerSettings settings() {
    return settings;
  }

  public long epoch() {
    return storage.epoch();
  }

  public StateMachine machine() {
    return machine;
  }

  public Journal journal() {
    return journal;
  }

  public ClientTable sessions() {
    return sessions;
  }

  public SafeMode safeMode() {
    return safeMode;
  }

  public Counters counters() {
    return counters;
  }

  /** Latencies of calls, by operation. */
  public OperationTimes times() {
    return times;
  }
}
