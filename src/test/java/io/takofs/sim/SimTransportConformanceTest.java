package io.takofs.sim;

import io.takofs.transport.TransportConformanceTest;
import io.takofs.transport.TransportWorld;

/** The suite over simulated network cards; a revocation ends everything at once. */
class SimTransportConformanceTest extends TransportConformanceTest {
  @Override
  protected TransportWorld newWorld() {
    return SimWorld.of(SimConditions.CALM);
  }
}
