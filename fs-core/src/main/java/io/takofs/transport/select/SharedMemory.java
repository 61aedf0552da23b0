package io.takofs.transport.select;

import io.takofs.transport.HostIdentity;
import io.takofs.transport.OfferedTransport;
import io.takofs.transport.Transport;
import io.takofs.transport.shm.ShmTransport;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.Optional;

/** Shared memory: of servers on the same host, for users who may open it. */
class SharedMemory extends Candidate {
  SharedMemory() {
    this(null);
  }

  /**
   * @param given a transport that stays its owner's; null to make one
   */
  SharedMemory(Transport given) {
    super("shm", "same host", given);
  }

  @Override
  boolean mapsMemory() {
    return true;
  }

  @Override
  Optional<String> unavailabilityCause() {
    return ShmTransport.unavailabilityCause().map(cause -> "native library not loaded: " + cause);
  }

  @Override
  Transport create() throws IOException {
    return ShmTransport.create();
  }

  @Override
  Optional<String> obstacleTo(OfferedTransport offer) throws IOException {
    if (!offer.host().equals(HostIdentity.local())) {
      return Optional.of("the server runs on another host");
    }
    Path path;
    try {
      path = Path.of(offer.endpoint());
    } catch (InvalidPathException e) {
      return Optional.of(
          "the server's shared memory has the impossible path '" + offer.endpoint() + "'");
    }
    if (!Files.exists(path)) {
      return Optional.of(
          "the server's shared memory at "
              + path
              + " is not visible here: the server may belong to another user or container");
    }
    return Files.isWritable(path)
        ? Optional.empty()
        : Optional.of("this user may not use the server's shared memory at " + path);
  }
}
