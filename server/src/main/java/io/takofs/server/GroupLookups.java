package io.takofs.server;

import io.takofs.server.groups.GroupMapping;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Asks for the groups of users on threads that may block. One lookup that fails leaves the groups
 * unknown, and whoever needs them is answered with that.
 *
 * <p>Thread rule: any thread, without the data server's lock.
 */
public final class GroupLookups {
  private static final Logger LOG = LoggerFactory.getLogger(GroupLookups.class);

  /** For somebody who waits: a lookup runs a process, for milliseconds unless the host is busy. */
  private static final long WAIT_MS = 1500;

  private final GroupMapping groups;
  private final Executor blocking;
  private final Map<String, CountDownLatch> awaited = new ConcurrentHashMap<>();
  private final Set<String> refreshed = ConcurrentHashMap.newKeySet();

  /**
   * @param blocking runs lookups, which may block
   */
  public GroupLookups(GroupMapping groups, Executor blocking) {
    this.groups = groups;
    this.blocking = blocking;
  }

  /** The groups that are known. */
  GroupMapping groups() {
    return groups;
  }

  /** Whether the groups of {@code user} need not be looked up. */
  boolean isKnown(String user) {
    return groups.known(user) != null;
  }

  /**
   * Runs {@code then}, on another thread, once the groups of {@code user} were looked up. Throws
   * what the executor throws when too many wait, or when there is no memory for a thread.
   */
  void start(String user, Runnable then) {
    blocking.execute(
        () -> {
          try {
            resolve(user);
          } finally {
            then.run();
          }
        });
  }

  /** Looks the groups of {@code user} up for whoever calls next, unless that is under way. */
  void refresh(String user) {
    if (!refreshed.add(user)) {
      return;
    }
    try {
      start(user, () -> refreshed.remove(user));
    } catch (RuntimeException | Error e) {
      refreshed.remove(user);
      LOG.warn("no thread to look up the groups of {} again: {}", user, e.toString());
    }
  }

  /**
   * Looks the groups of {@code user} up and waits a moment for them. A caller that comes while a
   * lookup of the same user is under way does not wait: many callers in a row wait once.
   */
  void await(String user) {
    CountDownLatch done = new CountDownLatch(1);
    if (isKnown(user) || awaited.putIfAbsent(user, done) != null) {
      return;
    }
    try {
      start(
          user,
          () -> {
            awaited.remove(user);
            done.countDown();
          });
      if (!done.await(WAIT_MS, TimeUnit.MILLISECONDS)) {
        LOG.debug("the groups of {} are being looked up still", user);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (RuntimeException | Error e) {
      awaited.remove(user, done);
      LOG.warn("no thread to look up the groups of {}: {}", user, e.toString());
    }
  }

  private void resolve(String user) {
    try {
      groups.resolve(user);
    } catch (RuntimeException e) {
      LOG.error("cannot look up the groups of {}", user, e);
    }
  }
}
