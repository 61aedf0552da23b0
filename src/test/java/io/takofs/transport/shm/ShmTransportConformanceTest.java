package io.takofs.transport.shm;

import io.takofs.transport.Transport;
import io.takofs.transport.TransportConformanceTest;
import io.takofs.transport.TransportWorld;
import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.io.TempDir;

/** The suite over shared memory; both sides in this process, each with its own directory. */
class ShmTransportConformanceTest extends TransportConformanceTest {
  @TempDir Path directory;

  @Override
  protected TransportWorld newWorld() throws IOException {
    return new World(
        ShmTransport.create(directory.resolve("server")),
        ShmTransport.create(directory.resolve("client")),
        directory.resolve("nobody").toString());
  }

  private record World(Transport server, Transport client, String unreachableEndpoint)
      implements TransportWorld {
    @Override
    public boolean mapsMemory() {
      return true;
    }

    @Override
    public boolean hasCallbacks() {
      return false;
    }

    @Override
    public String listenEndpoint() {
      return "";
    }
  }
}
