package io.takofs.hadoop;

import io.takofs.base.TakoException;
import io.takofs.client.TakoClient;
import java.io.IOException;

/**
 * Whether the server refuses all changes.
 *
 * <p>Thread rule: any thread.
 */
final class SafeModeOperations {
  private final TakoClient client;

  SafeModeOperations(TakoClient client) {
    this.client = client;
  }

  boolean isOn() throws IOException {
    try {
      return client.isInSafeMode();
    } catch (TakoException e) {
      throw ErrorTranslation.translate(e, client.uri().toString());
    }
  }

  /** Returns what it is afterwards. */
  boolean set(boolean on) throws IOException {
    try {
      client.setSafeMode(on);
      return on;
    } catch (TakoException e) {
      throw ErrorTranslation.translate(e, client.uri().toString());
    }
  }
}
