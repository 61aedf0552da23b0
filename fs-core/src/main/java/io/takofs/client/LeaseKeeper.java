package io.takofs.client;

import io.takofs.base.TakoException;
import io.takofs.proto.RenewLeases;
import io.takofs.proto.Request;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Renews the leases of a client while it has files open for writing, on one daemon thread that
 * sleeps while it has none.
 *
 * <p>Thread rule: any thread.
 */
final class LeaseKeeper implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(LeaseKeeper.class);

  private final Session session;
  private final ThreadFactory threads;
  private Thread thread;
  private long periodMs;
  private int writers;
  private boolean sleeping;
  private boolean closed;

  LeaseKeeper(Session session, ThreadFactory threads) {
    this.session = session;
    this.threads = threads;
  }

  /** A file was opened for writing. */
  synchronized void opened(long leaseSoftLimitMs) {
    writers++;
    // Two renewals may get lost before the limit.
    periodMs = Math.max(leaseSoftLimitMs / 3, 10);
    if (thread == null && !closed) {
      thread = threads.newThread(this::run);
      thread.start();
    } else if (sleeping) {
      notifyAll();
    }
  }

  /** It is closed. */
  synchronized void closed() {
    writers--;
  }

  private void run() {
    while (awaitPeriod()) {
      try {
        session.call(
            "renew leases",
            "",
            Request.newBuilder().setRenewLeases(RenewLeases.getDefaultInstance()));
      } catch (TakoException e) {
        LOG.warn("{}; trying again", e.getMessage());
      }
    }
  }

  /** Waits one period with a writer open all the while it ends; false when closed. */
  private synchronized boolean awaitPeriod() {
    try {
      long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(periodMs);
      while (!closed) {
        long leftMs = TimeUnit.NANOSECONDS.toMillis(end - System.nanoTime());
        if (leftMs > 0) {
          wait(leftMs);
        } else if (writers > 0) {
          return true;
        } else {
          sleeping = true;
          wait();
          sleeping = false;
          end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(periodMs);
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    return false;
  }

  @Override
  public synchronized void close() {
    closed = true;
    notifyAll();
  }
}
