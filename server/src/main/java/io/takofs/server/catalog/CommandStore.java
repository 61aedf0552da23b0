package io.takofs.server.catalog;

import io.takofs.base.TakoException;
import io.takofs.server.catalog.CatalogCommand.Kind;
import java.time.Duration;

/**
 * A store of which every change is one {@link CatalogCommand}.
 *
 * <p>Thread rule: that of {@link ConfigStore}.
 */
public abstract class CommandStore implements ConfigStore {
  /**
   * Applies {@code command} to the values, whoever else changes them.
   *
   * @return the version that it made, or {@link #LOST}
   */
  protected abstract long change(CatalogCommand command) throws TakoException;

  @Override
  public final long compareAndSet(String key, long expected, byte[] bytes, Duration ttl)
      throws TakoException {
    return change(new CatalogCommand(Kind.SET, key, expected, ttl.toMillis(), bytes));
  }

  @Override
  public final boolean renew(String key, long version) throws TakoException {
    return change(CatalogCommand.of(Kind.RENEW, key, version)) != LOST;
  }

  @Override
  public final boolean remove(String key, long version) throws TakoException {
    return change(CatalogCommand.of(Kind.REMOVE, key, version)) != LOST;
  }
}
