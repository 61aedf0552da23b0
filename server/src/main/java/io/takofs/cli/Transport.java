package io.takofs.cli;

import io.takofs.base.TakoException;
import io.takofs.client.TakoClient;
import io.takofs.config.TakoConfig;
import java.net.URI;

/** How this process reaches a server, for people. */
final class Transport {
  private Transport() {}

  /** Such as {@code shm: same host}. */
  static String verdict(URI server) throws TakoException {
    try (TakoClient client =
        TakoClient.connect(
            server, new TakoConfig().addSystemProperties(), System.getProperty("user.name"))) {
      return client.transportVerdict();
    }
  }
}
