package io.takofs.transport;

import java.io.IOException;

/** A part of the suite: tests over the harness of the transport under test. */
interface HarnessedTests {
  /** The harness of the running test. */
  TransportHarness harness() throws IOException;
}
