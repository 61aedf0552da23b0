package io.takofs.sim.slab;

import io.takofs.sim.Fault;
import io.takofs.sim.SimClock;
import io.takofs.sim.SimDataServer;
import io.takofs.sim.SimNetwork;
import io.takofs.sim.SimProcess;
import io.takofs.sim.SimScheduler;
import io.takofs.sim.Swarm;
import java.util.List;

/**
 * The servers of a simulation of slabs.
 *
 * @param windows whether a server refuses new connections of writers whose grants were fenced
 *     there; else writers ask the group on each new connection
 */
record SlabCluster(SimNetwork network, Swarm swarm, List<SimDataServer> servers, boolean windows) {
  SimScheduler scheduler() {
    return network.scheduler();
  }

  /** The server with this id; null when its pool, and so its id, is gone. */
  SimDataServer server(int id) {
    return servers.stream().filter(each -> each.id() == id).findAny().orElse(null);
  }

  SimClock newClock(SimProcess process) {
    return swarm.has(Fault.CLOCK_JUMP)
        ? SimClock.wrong(scheduler(), process)
        : new SimClock(scheduler(), process);
  }
}
