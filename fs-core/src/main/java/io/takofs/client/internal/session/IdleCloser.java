package io.takofs.client.internal.session;

import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;

/**
 * Ends the connections of a client that has not used them for a while: a server has only so many,
 * and a device only so many queue pairs. The next call makes them anew. One daemon thread, which
 * sleeps.
 *
 * <p>Thread rule: any thread.
 */
public final class IdleCloser implements AutoCloseable {
  private final Session session;
  private final LeaseKeeper leases;
  private final long idleNs;
  private final ThreadFactory threads;
  private Thread thread;
  private boolean connected; // since it was looked whether all is idle
  private boolean closed;

  /**
   * Of a session that has to stay while {@code leases} has writers.
   *
   * @param idleNs after which connections end
   */
  public IdleCloser(Session session, LeaseKeeper leases, long idleNs, ThreadFactory threads) {
    this.session = session;
    this.leases = leases;
    this.idleNs = idleNs;
    this.threads = threads;
  }

  /** There is a connection. */
  public synchronized void connected() {
    if (thread == null && !closed) {
      thread = threads.newThread(this::run);
      thread.setName("tako-idle");
      thread.start();
    }
    connected = true;
    notifyAll();
  }

  private void run() {
    try {
      long leftNs = idleNs;
      while (pause(leftNs)) {
        forgetConnected();
        leftNs = leases.hasWriters() ? idleNs : session.closeWhenIdleFor(idleNs);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private synchronized void forgetConnected() {
    connected = false;
  }

  /** Sleeps so long, or without a connection until there is one; false when this is closed. */
  private synchronized boolean pause(long leftNs) throws InterruptedException {
    long end = System.nanoTime() + leftNs;
    boolean asleep = leftNs <= 0;
    while (!closed && (asleep ? !connected : System.nanoTime() - end < 0)) {
      wait(asleep ? 0 : Math.max(1, TimeUnit.NANOSECONDS.toMillis(end - System.nanoTime())));
    }
    return !closed;
  }

  @Override
  public synchronized void close() {
    closed = true;
    notifyAll();
  }
}
