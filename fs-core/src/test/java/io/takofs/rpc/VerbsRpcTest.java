package io.takofs.rpc;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.takofs.transport.verbs.VerbsTransport;
import java.io.IOException;
import java.util.Optional;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;

/** Calls over a real RDMA device; bin/vm has one. */
@Tag("verbs")
class VerbsRpcTest extends RpcTests {
  @BeforeAll
  static void needDevice() {
    Optional<String> cause = VerbsTransport.unavailabilityCause();
    assumeTrue(cause.isEmpty(), () -> "not run, bin/vm runs it: " + cause.orElseThrow());
  }

  @Override
  void createTransports() throws IOException {
    serving = VerbsTransport.create(Optional.empty());
    calling = VerbsTransport.create(Optional.empty());
  }

  @Override
  String listenEndpoint() {
    return "";
  }
}
