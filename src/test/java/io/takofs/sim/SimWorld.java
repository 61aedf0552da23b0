package io.takofs.sim;

import io.takofs.transport.Transport;
import io.takofs.transport.TransportWorld;

/** Two processes on a simulated network, for the suite of the transports. */
record SimWorld(SimNetwork network, Transport server, Transport client) implements TransportWorld {
  private static final long SEED = Long.getLong("tako.sim.seed", 42);

  static SimWorld of(SimConditions conditions) {
    SimNetwork network = new SimNetwork(new SimScheduler(SEED), conditions);
    return new SimWorld(
        network,
        network.attach(new SimProcess("server")),
        network.attach(new SimProcess("client")));
  }

  @Override
  public boolean mapsMemory() {
    return false;
  }

  @Override
  public boolean hasCallbacks() {
    return true;
  }

  @Override
  public boolean hasThreads() {
    return false;
  }

  @Override
  public String listenEndpoint() {
    return "";
  }

  @Override
  public String unreachableEndpoint() {
    return "sim:nowhere";
  }

  @Override
  public long nanoTime() {
    return network.scheduler().nowNs();
  }
}
