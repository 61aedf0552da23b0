package io.takofs.hadoop.internal;

import io.takofs.base.TakoException;
import io.takofs.client.TakoClient;
import java.io.IOException;

/**
 * Safe mode, in which the server refuses all changes.
 *
 * <p>Thread rule: any thread.
 */
public final class SafeModeOperations {
  private final TakoClient client;

  SafeModeOperations(TakoClient client) {
    this.client = client;
  }

  public boolean isOn() throws IOException {
    try {
      return client.administration().isInSafeMode();
    } catch (TakoException e) {
      throw ErrorTranslation.translate(e, client.uri().toString());
    }
  }

  /** Returns the state afterwards. */
  public boolean set(boolean on) throws IOException {
    try {
      client.administration().setSafeMode(on);
      return on;
    } catch (TakoException e) {
      throw ErrorTranslation.translate(e, client.uri().toString());
    }
  }
}
