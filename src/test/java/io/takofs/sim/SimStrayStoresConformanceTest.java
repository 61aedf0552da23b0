package io.takofs.sim;

import io.takofs.transport.TransportConformanceTest;
import io.takofs.transport.TransportWorld;

/** The suite with peers as those that share memory: stray bytes land after a revocation. */
class SimStrayStoresConformanceTest extends TransportConformanceTest {
  @Override
  protected TransportWorld newWorld() {
    return SimWorld.of(SimConditions.CALM.withLateRevokes(1));
  }
}
