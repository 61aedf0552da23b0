package io.takofs.transport.select;

import io.takofs.transport.Transport;
import java.io.IOException;
import java.util.Optional;

/** How a selector comes by its shared-memory transport. */
interface SharedMemory {
  /** Why this process has none; empty if it can make one. */
  Optional<String> unavailabilityCause();

  /** Makes it. */
  Transport create() throws IOException;
}
