package io.takofs.server.catalog;

import io.takofs.base.TakoException;
import io.takofs.proto.Status;
import java.time.Duration;
import java.util.Map;

/** A store that does not answer. */
final class AwayStore implements ConfigStore {
  private final boolean fast;

  /**
   * @param fast whether it fails at once, instead of letting its callers wait
   */
  AwayStore(boolean fast) {
    this.fast = fast;
  }

  private static TakoException away() {
    return new TakoException(Status.UNAVAILABLE, "the catalog is away");
  }

  @Override
  public boolean answersWithin(Duration limit) {
    return fast;
  }

  @Override
  public Value get(String key) throws TakoException {
    throw away();
  }

  @Override
  public Map<String, Value> values() throws TakoException {
    throw away();
  }

  @Override
  public long compareAndSet(String key, long expected, byte[] bytes, Duration ttl)
      throws TakoException {
    throw away();
  }

  @Override
  public boolean renew(String key, long version) throws TakoException {
    throw away();
  }

  @Override
  public boolean remove(String key, long version) throws TakoException {
    throw away();
  }

  @Override
  public long currentTimeMillis() throws TakoException {
    throw away();
  }

  @Override
  public boolean restore(CatalogState copy) throws TakoException {
    throw away();
  }

  @Override
  public String description() {
    return "nowhere";
  }

  @Override
  public void close() {
    // It holds nothing.
  }
}
