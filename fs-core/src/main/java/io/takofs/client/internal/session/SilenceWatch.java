package io.takofs.client.internal.session;

import io.takofs.base.Clock;
import io.takofs.proto.SessionTerms;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Looks after calls that get no answer over a connection that stands: their server may be stopped
 * or cut off, and another one lead. Once it was silent for a while, the other servers are asked;
 * the session moves only when another leads, so a call that takes long stays where it is. One
 * daemon thread while there are calls, and none where there is no other server.
 *
 * <p>Thread rule: any thread.
 */
final class SilenceWatch implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(SilenceWatch.class);

  /** Looks while a server may be silent before it counts as silent. */
  private static final int LOOKS = 4;

  /** For each server that is asked; who closes the client may have to wait for it. */
  private static final long ASK_NS = TimeUnit.SECONDS.toNanos(1);

  /** Looks without a call after which the thread ends. */
  private static final int IDLE_LOOKS = 4 * LOOKS;

  private final SessionConnector connector;
  private final ThreadFactory threads;
  private final Clock clock;
  private volatile OpenSession watched; // null where no other server can lead
  private volatile Thread thread;
  private volatile boolean closed;

  SilenceWatch(SessionConnector connector, ThreadFactory threads, Clock clock) {
    this.connector = connector;
    this.threads = threads;
    this.clock = clock;
  }

  /**
   * Calls are sent over {@code open} from now on; again when another map is known.
   *
   * @param open null for none
   */
  void connected(OpenSession open) {
    watched = open != null && open.terms().getServer() != 0 && connector.mayMove() ? open : null;
  }

  /**
   * A call is about to be sent.
   *
   * @return whether it is looked after, and to be {@link #ended}
   */
  boolean began(OpenSession open) {
    if (open != watched) {
      return false;
    }
    open.waiting().began(clock.nanoTime());
    if (thread == null) {
      start();
    }
    return true;
  }

  /** A call that is looked after has its outcome. */
  void ended(OpenSession open) {
    open.waiting().ended(clock.nanoTime());
  }

  private synchronized void start() {
    if (thread == null && !closed) {
      try {
        Thread made = threads.newThread(this::run);
        made.setName("tako-silence-watch");
        made.start();
        thread = made;
      } catch (OutOfMemoryError e) { // too many threads: the next call tries again
        LOG.debug("no thread to look after calls: {}", e.getMessage());
      }
    }
  }

  private void run() {
    int idle = 0;
    while (!closed) {
      OpenSession open = watched;
      long silenceNs = silenceNs(open);
      clock.parkNanos(this, silenceNs / LOOKS);
      boolean ignored = Thread.interrupted(); // nothing ends this thread so, but no park would wait
      idle = hasCalls() ? 0 : idle + 1;
      if (idle >= IDLE_LOOKS && end()) {
        return;
      }
      if (open != null && open.waiting().silentNs(clock.nanoTime()) >= silenceNs) {
        inquire(open);
      }
    }
  }

  private void inquire(OpenSession open) {
    try {
      connector.moveIfAnotherLeads(open, ASK_NS);
    } catch (RuntimeException | Error e) {
      // This thread looks after the calls to come, too.
      LOG.warn("it is not known whether another server leads: {}", e.toString(), e);
    }
    open.waiting().asked(clock.nanoTime());
  }

  private static long silenceNs(OpenSession open) {
    return SessionConnector.shareOfLife(
        open == null ? SessionTerms.getDefaultInstance() : open.terms());
  }

  private boolean hasCalls() {
    OpenSession open = watched;
    return open != null && open.waiting().isAny();
  }

  /** Ends this thread unless a call has begun just now; the next one makes another. */
  private synchronized boolean end() {
    Thread me = thread;
    thread = null;
    if (hasCalls()) {
      thread = me;
    }
    return thread == null;
  }

  @Override
  public synchronized void close() {
    closed = true;
    LockSupport.unpark(thread);
  }
}
