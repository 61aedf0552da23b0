package io.takofs.cli;

import io.takofs.client.TakoClient;
import java.io.IOException;
import java.net.URI;

/** Describes for people the transport by which this process reaches a server. */
final class TransportVerdict {
  private TransportVerdict() {}

  /** Such as {@code shm: same host}. */
  static String verdict(URI server) throws IOException {
    try (TakoClient client =
        TakoClient.connect(server, Installation.configuration(), System.getProperty("user.name"))) {
      return client.transportVerdict();
    }
  }
}
