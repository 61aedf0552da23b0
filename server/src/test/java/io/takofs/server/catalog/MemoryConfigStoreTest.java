package io.takofs.server.catalog;

import io.takofs.server.ManualClock;
import java.time.Duration;

class MemoryConfigStoreTest extends ConfigStoreTests {
  private final ManualClock clock = new ManualClock();
  private final ConfigStore store = new MemoryConfigStore(clock);

  @Override
  protected ConfigStore store() {
    return store;
  }

  @Override
  protected void pass(Duration time) {
    clock.advance(time);
  }
}
