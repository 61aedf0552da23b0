package io.takofs.sim;

import io.takofs.transport.Transport;
import io.takofs.transport.TransportConformanceTest;
import io.takofs.transport.TransportWorld;

class SimTransportConformanceTest extends TransportConformanceTest {
  private static final long SEED = Long.getLong("tako.sim.seed", 42);

  @Override
  protected TransportWorld newWorld() {
    SimNetwork network = new SimNetwork(new SimScheduler(SEED), SimConditions.CALM);
    SimTransport server = network.attach(new SimProcess("server"));
    SimTransport client = network.attach(new SimProcess("client"));
    return new TransportWorld() {
      @Override
      public Transport server() {
        return server;
      }

      @Override
      public Transport client() {
        return client;
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
    };
  }
}
