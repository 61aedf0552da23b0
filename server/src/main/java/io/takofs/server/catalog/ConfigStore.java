package io.takofs.server.catalog;

import io.takofs.base.TakoException;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/**
 * A few small values under keys, with versions and leases. Changes are linearizable; a value that
 * is read may be older while the servers of the store cannot reach one another. A version is never
 * given twice, so a compare-and-set cannot mistake a value that was removed and set again for the
 * former.
 *
 * <p>All calls return within the store's time limit. Errors: UNAVAILABLE when it does not answer;
 * then the outcome of a change is unknown and the caller looks.
 *
 * <p>Thread rule: any thread, and never one that serves a client.
 */
public interface ConfigStore extends AutoCloseable {
  /** Version of a key that is not there. */
  long ABSENT = 0;

  /** The version that {@link #compareAndSet} gives when another one was found. */
  long LOST = -1;

  /**
   * A value, not to be changed.
   *
   * @param version {@link #ABSENT} when there is none
   */
  record Value(long version, byte[] bytes) {
    /** No value. */
    public static final Value NONE = new Value(ABSENT, new byte[0]);

    /** Whether there is one. */
    public boolean isPresent() {
      return version != ABSENT;
    }
  }

  /**
   * Whether the store answers a change within {@code limit}, or a little later, be it by a refusal.
   * Other calls may wait for longer, while they look for the store's leader.
   */
  default boolean answersWithin(Duration limit) {
    return true;
  }

  /** The value of {@code key}. */
  Value get(String key) throws TakoException;

  /** All values, as of one moment. */
  Map<String, Value> values() throws TakoException;

  /**
   * Sets {@code key} if its version is {@code expected}.
   *
   * @param expected {@link #ABSENT} when it must not be there
   * @param ttl after which the store removes it unless it is renewed; zero for never
   * @return the new version, or {@link #LOST}
   */
  long compareAndSet(String key, long expected, byte[] bytes, Duration ttl) throws TakoException;

  /** {@link #compareAndSet(String, long, byte[], Duration)} of a value that stays. */
  default long compareAndSet(String key, long expected, byte[] bytes) throws TakoException {
    return compareAndSet(key, expected, bytes, Duration.ZERO);
  }

  /**
   * Begins the time to live of {@code key} anew; its version stays.
   *
   * @return whether it is still there in this version; else the lease is over
   */
  boolean renew(String key, long version) throws TakoException;

  /**
   * Removes {@code key} if its version is {@code version}.
   *
   * @return whether it was
   */
  boolean remove(String key, long version) throws TakoException;

  /** The store's wall-clock time in milliseconds since 1970, the same for all servers. */
  long currentTimeMillis() throws TakoException;

  /**
   * Takes the values of a lost catalog.
   *
   * @return false when this one has values, which stay
   */
  boolean restore(CatalogState copy) throws TakoException;

  /** The servers that keep the values; none where the store is no work of servers. */
  default List<PeerStatus> peers() {
    return List.of();
  }

  /** The place of the values, for people. */
  String description();

  @Override
  void close();
}
