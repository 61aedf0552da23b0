package io.takofs.server.catalog;

import io.takofs.base.Clock;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** A store in memory, for tests: nothing survives, time is its clock's. */
public final class MemoryConfigStore implements ConfigStore {
  private final CatalogState state = new CatalogState();
  private final Clock clock;
  private final Map<String, Runnable> before = new ConcurrentHashMap<>();

  /**
   * @param clock by which leases end
   */
  public MemoryConfigStore(Clock clock) {
    this.clock = clock;
  }

  /** Runs {@code action} before {@code key} is set the next time, as another process may. */
  void beforeSet(String key, Runnable action) {
    before.put(key, action);
  }

  @Override
  public synchronized Value get(String key) {
    expire();
    return state.get(key);
  }

  @Override
  public synchronized Map<String, Value> values() {
    expire();
    return state.values();
  }

  @Override
  public long compareAndSet(String key, long expected, byte[] bytes, Duration ttl) {
    Runnable action = before.remove(key);
    if (action != null) {
      action.run();
    }
    return apply(
        new CatalogCommand(CatalogCommand.Kind.SET, key, expected, ttl.toMillis(), bytes.clone()));
  }

  @Override
  public boolean renew(String key, long version) {
    return apply(CatalogCommand.of(CatalogCommand.Kind.RENEW, key, version)) != LOST;
  }

  @Override
  public boolean remove(String key, long version) {
    return apply(CatalogCommand.of(CatalogCommand.Kind.REMOVE, key, version)) != LOST;
  }

  @Override
  public boolean restore(CatalogState copy) {
    return apply(CatalogCommand.restore(copy)) != LOST;
  }

  private synchronized long apply(CatalogCommand command) {
    expire();
    return state.apply(command, currentTimeMillis());
  }

  private void expire() {
    long now = currentTimeMillis();
    state.expired(now).forEach(command -> state.apply(command, now));
  }

  @Override
  public long currentTimeMillis() {
    return clock.currentTimeMillis();
  }

  @Override
  public String description() {
    return "memory";
  }

  @Override
  public void close() {
    // It holds nothing.
  }
}
