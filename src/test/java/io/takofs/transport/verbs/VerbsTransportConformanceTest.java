package io.takofs.transport.verbs;

import io.takofs.transport.Transport;
import io.takofs.transport.TransportConformanceTest;
import io.takofs.transport.TransportWorld;
import java.io.IOException;
import java.util.Optional;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;

/** The suite over the RDMA device of this host; both sides in this process, each with its own. */
class VerbsTransportConformanceTest extends TransportConformanceTest {
  /** A port of the range that nobody is given without asking for it, and that nobody asks for. */
  private static final int UNUSED_PORT = 9;

  @BeforeAll
  static void skipWithoutDevice() {
    Optional<String> cause = VerbsTransport.unavailabilityCause();
    Assumptions.assumeTrue(cause.isEmpty(), () -> "no verbs here: " + cause.orElse(""));
  }

  @Override
  protected TransportWorld newWorld() throws IOException {
    VerbsTransport server = VerbsTransport.create(Optional.empty());
    VerbsTransport client = VerbsTransport.create(Optional.empty());
    return new World(server, client, server.address().getHostAddress());
  }

  private record World(Transport server, Transport client, String host) implements TransportWorld {
    @Override
    public String listenEndpoint() {
      return "";
    }

    @Override
    public String unreachableEndpoint() {
      return host + ":" + UNUSED_PORT;
    }
  }
}
