package io.takofs.client.internal.session;

import io.takofs.base.Clock;
import io.takofs.base.TakoException;
import io.takofs.proto.CommitExtents;
import io.takofs.proto.OpenedFile;
import io.takofs.proto.RenewLeases;
import io.takofs.proto.Request;
import io.takofs.proto.SessionTerms;
import io.takofs.proto.Status;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps the session of a client alive while it has files open for writing, which keeps their
 * leases, and releases the leases of writers that could not do it themselves: the server sees a
 * client that lives and would wait for ever. One daemon thread, which ends soon after the last
 * writer.
 *
 * <p>Thread rule: any thread.
 */
public final class LeaseKeeper implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(LeaseKeeper.class);

  /** The shortest period, whatever a server says. */
  private static final long PERIOD_MIN_MS = 10;

  private final Session session;
  private final ThreadFactory threads;
  private final Clock clock;
  private final ArrayDeque<Lease> abandoned = new ArrayDeque<>();
  private Thread thread;
  private int writers; // abandoned ones count until they are released
  private boolean urgent;
  private boolean closed;

  public LeaseKeeper(Session session, ThreadFactory threads, Clock clock) {
    this.session = session;
    this.threads = threads;
    this.clock = clock;
  }

  /** The lease of one writer. */
  public final class Lease {
    private final SessionIdentity owner;
    private final OpenedFile file;
    private final String path;
    private boolean over;

    private Lease(SessionReply opened, String path) {
      this.owner = opened.session();
      this.file = opened.reply().getOpenedFile();
      this.path = path;
    }

    /** The server has released it. */
    public void released() {
      end(this, false);
    }

    /** The writer has ended, and whether the server knows is unknown: it will be told. */
    public void abandon() {
      end(this, true);
    }

    /** Tells the server that the file is closed at what was committed; false to try again. */
    private boolean release() {
      CommitExtents.Builder commit =
          CommitExtents.newBuilder()
              .setFileId(file.getFile().getId())
              .setLeaseEpoch(file.getLeaseEpoch())
              .setClose(true)
              .setAbandon(true);
      try {
        session.call("close", path, Request.newBuilder().setCommitExtents(commit), owner);
        return true;
      } catch (TakoException e) {
        LOG.debug("{}", e.getMessage());
        return !isUnreachable(e.status())
            && e.status() != Status.NO_SPACE
            && e.status() != Status.SAFE_MODE;
      }
    }
  }

  /** Whether a call that failed so may succeed later, or may have succeeded. */
  public static boolean isUnreachable(Status status) {
    return status == Status.UNAVAILABLE
        || status == Status.DEADLINE_EXCEEDED
        || status == Status.DISCONNECTED;
  }

  /** A file was opened for writing; its {@link Lease} is released or abandoned in the end. */
  public synchronized Lease keep(SessionReply opened, String path) {
    Lease lease = new Lease(opened, path);
    writers++;
    boolean kept = false;
    try {
      ensureRunning();
      kept = true;
    } finally {
      if (!kept) {
        lease.abandon(); // the thread of a later writer releases it
      }
    }
    return lease;
  }

  private void ensureRunning() {
    if (thread == null && !closed) {
      Thread made = threads.newThread(this::run);
      made.setName("tako-lease-renewal");
      made.start(); // fails when there are too many threads
      thread = made;
    }
  }

  /** Whether a file is open for writing, or its lease still to be released. */
  synchronized boolean hasWriters() {
    return writers > 0;
  }

  private synchronized void end(Lease lease, boolean abandon) {
    if (lease.over) {
      return;
    }
    lease.over = true;
    if (abandon) {
      abandoned.add(lease);
      urgent = true;
      LockSupport.unpark(thread);
    } else {
      writers--;
    }
  }

  private void run() {
    while (awaitPeriod()) {
      try {
        renew();
        releaseAbandoned();
      } catch (RuntimeException | Error e) {
        // This thread keeps the leases of all writers: a renewal that fails now may succeed a
        // period later.
        LOG.warn("leases were not renewed, trying again: {}", e.toString(), e);
      }
    }
  }

  private void renew() {
    try {
      session.call(
          "renew leases",
          "",
          Request.newBuilder().setRenewLeases(RenewLeases.getDefaultInstance()));
    } catch (TakoException e) {
      LOG.warn("{}; trying again", e.getMessage());
    }
  }

  private void releaseAbandoned() {
    List<Lease> toRelease;
    synchronized (this) {
      toRelease = new ArrayList<>(abandoned);
    }
    for (Lease lease : toRelease) {
      if (lease.release()) {
        synchronized (this) {
          abandoned.remove(lease);
          writers--;
        }
      }
    }
  }

  /** Waits one period with a writer open when it ends, or for urgent work; false when closed. */
  private boolean awaitPeriod() {
    long end = clock.nanoTime() + periodNs();
    while (true) {
      long leftNs = end - clock.nanoTime();
      synchronized (this) {
        if (closed) {
          return false;
        }
        if (urgent) {
          urgent = false;
          return true;
        }
        if (leftNs <= 0) {
          if (writers == 0) {
            thread = null; // the next writer makes another
          }
          return writers > 0;
        }
      }
      clock.parkNanos(this, leftNs);
      boolean ignored = Thread.interrupted(); // nothing ends this thread so, but no park would wait
    }
  }

  /** Two renewals may get lost before the session or a lease is. */
  private long periodNs() {
    SessionTerms terms = session.terms();
    long limitMs = Math.min(terms.getSessionTtlMs(), terms.getLeaseSoftLimitMs());
    return TimeUnit.MILLISECONDS.toNanos(Math.max(limitMs / 3, PERIOD_MIN_MS));
  }

  @Override
  public synchronized void close() {
    closed = true;
    LockSupport.unpark(thread);
  }
}
