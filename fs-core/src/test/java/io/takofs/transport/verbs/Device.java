package io.takofs.transport.verbs;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.util.Optional;

/** The RDMA device of the host that tests run on. */
final class Device {
  private Device() {}

  /** Skips the test, saying why, where there is none; in bin/vm there must be one. */
  static void assumePresent() {
    Optional<String> cause = VerbsControl.unavailabilityCause();
    if (System.getenv("TAKO_VM") != null && cause.isPresent()) {
      throw new AssertionError(cause.get());
    }
    assumeTrue(cause.isEmpty(), () -> "not run, bin/vm runs it: " + cause.orElseThrow());
  }
}
