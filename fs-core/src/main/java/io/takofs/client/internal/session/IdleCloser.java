package io.takofs.client.internal.session;

import io.takofs.base.Clock;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.locks.LockSupport;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Ends the connections of a client that has not used them for a while: a server has only so many,
 * and a device only so many queue pairs. The next call makes them anew. One daemon thread while
 * there is a connection.
 *
 * <p>Thread rule: any thread.
 */
public final class IdleCloser implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(IdleCloser.class);

  private final Session session;
  private final LeaseKeeper leases;
  private final long idleNs;
  private final ThreadFactory threads;
  private final Clock clock;
  private Thread thread;
  private boolean connected; // since it was looked whether all is idle
  private boolean closed;

  /**
   * Of a session that has to stay while {@code leases} has writers.
   *
   * @param idleNs after which connections end
   */
  public IdleCloser(
      Session session, LeaseKeeper leases, long idleNs, ThreadFactory threads, Clock clock) {
    this.session = session;
    this.leases = leases;
    this.idleNs = idleNs;
    this.threads = threads;
    this.clock = clock;
  }

  /** There is a connection. */
  public synchronized void connected() {
    if (thread == null && !closed) {
      Thread made = threads.newThread(this::run);
      made.setName("tako-idle");
      made.start(); // fails when there are too many threads
      thread = made;
    }
    connected = true;
  }

  private void run() {
    long leftNs = idleNs;
    while (leftNs > 0 && pause(leftNs)) {
      forgetConnected();
      try {
        leftNs = leases.hasWriters() ? idleNs : session.closeWhenIdleFor(idleNs);
      } catch (RuntimeException | Error e) {
        // This thread ends all idle connections that there will be: it goes on.
        LOG.warn("idle connections were not closed, trying again: {}", e.toString(), e);
        leftNs = idleNs;
      }
      if (leftNs <= 0 && !end()) {
        leftNs = idleNs;
      }
    }
  }

  /** Ends this thread when there is no connection; the next one makes another. */
  private synchronized boolean end() {
    if (!connected) {
      thread = null;
    }
    return !connected;
  }

  /** Whether there may be a connection. */
  public synchronized boolean isConnected() {
    return thread != null;
  }

  private synchronized void forgetConnected() {
    connected = false;
  }

  /** Sleeps so long; false when this is closed. */
  private boolean pause(long leftNs) {
    long end = clock.nanoTime() + leftNs;
    while (true) {
      long restNs = end - clock.nanoTime();
      synchronized (this) {
        if (closed || restNs <= 0) {
          return !closed;
        }
      }
      clock.parkNanos(this, restNs);
      boolean ignored = Thread.interrupted(); // nothing ends this thread so, but no park would wait
    }
  }

  @Override
  public synchronized void close() {
    closed = true;
    LockSupport.unpark(thread);
  }
}
