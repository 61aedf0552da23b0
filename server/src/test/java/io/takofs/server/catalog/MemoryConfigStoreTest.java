package io.takofs.server.catalog;

import io.takofs.server.ManualClock;
import java.time.Duration;

class MemoryConfigStoreTest extends ConfigStoreTests {
  private final ManualClock clock = new ManualClock();
  private final ConfigStore store = new MemoryConfigStore(clock);

  @Override
  ConfigStore store() {
    return store;
  }

  @Override
  void pass(Duration time) {
    clock.advance(time);
  }
}
