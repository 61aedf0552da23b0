package io.takofs.transport.verbs;

import io.takofs.transport.Transport;
import io.takofs.transport.TransportConformanceTest;
import io.takofs.transport.TransportWorld;
import java.io.IOException;
import java.util.Optional;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;

/** The suite over the RDMA device of this host; both sides in this process, each with its own. */
@Tag("verbs")
class VerbsTransportConformanceTest extends TransportConformanceTest {
  /** A port of the range that nobody is given without asking for it, and that nobody asks for. */
  private static final int UNUSED_PORT = 9;

  @BeforeAll
  static void skipWithoutDevice() {
    Optional<String> cause = VerbsTransport.unavailabilityCause();
    if (System.getenv("TAKO_VM") != null && cause.isPresent()) {
      throw new AssertionError(cause.get()); // a machine made for it has a device
    }
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
    public boolean mapsMemory() {
      return false;
    }

    @Override
    public boolean hasCallbacks() {
      return false;
    }

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
