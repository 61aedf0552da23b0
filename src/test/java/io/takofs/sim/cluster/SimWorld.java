package io.takofs.sim.cluster;

import io.takofs.client.SimClients;
import io.takofs.client.TakoClient;
import io.takofs.config.TakoConfig;
import io.takofs.sim.Fault;
import io.takofs.sim.SimClock;
import io.takofs.sim.SimNetwork;
import io.takofs.sim.SimProcess;
import io.takofs.sim.SimScheduler;
import io.takofs.sim.Swarm;
import java.io.IOException;
import java.util.concurrent.atomic.AtomicLong;

/**
 * What the users of one simulation share.
 *
 * @param clients how users reach the servers
 * @param leader of the namespace
 */
record SimWorld(
    SimNetwork network,
    SimClients clients,
    TakoConfig config,
    SimServer leader,
    SharedNames shared,
    Swarm swarm) {
  private static final String USER = "root";

  /** The clock of a new process. */
  SimClock newClock(SimProcess process) {
    SimScheduler scheduler = network.scheduler();
    return swarm.has(Fault.CLOCK_JUMP)
        ? SimClock.wrong(scheduler, process)
        : new SimClock(scheduler, process);
  }

  /**
   * A client of a superuser in {@code process}.
   *
   * @param session gets the id of its session
   */
  TakoClient connect(SimProcess process, SimClock clock, AtomicLong session) {
    return clients.create(network.attach(process), leader.endpoint(), config, USER, clock, session);
  }

  /** Ends the session of a client that was killed, in {@code process}. */
  void endSession(SimProcess process, SimClock clock, long session) throws IOException {
    SimClients.endSession(network.attach(process), leader.endpoint(), USER, session, clock);
  }
}
