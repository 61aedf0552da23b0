package io.takofs.server.catalog;

import io.takofs.base.Clock;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The thread that lets a {@link Membership} do what is due. It keeps no process alive.
 *
 * <p>Thread rule: start and close from one thread.
 */
public final class MembershipThread implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(MembershipThread.class);
  private static final long JOIN_MS = TimeUnit.SECONDS.toMillis(10);

  private final Membership membership;
  private final Thread thread;
  private volatile boolean wanted;
  private volatile boolean closed;

  /** Starts it; the caller closes {@code membership} afterwards. */
  public MembershipThread(Membership membership) {
    this.membership = membership;
    thread = new Thread(this::run, "tako-membership");
    thread.setDaemon(true);
    membership.onTickWanted(this::wake);
    thread.start();
  }

  private void run() {
    while (!closed) {
      long pauseNs;
      wanted = false;
      try {
        pauseNs = membership.tick();
      } catch (RuntimeException e) {
        LOG.error("the membership goes on after a failure", e);
        pauseNs = Membership.PAUSE_NS;
      }
      Clock.SYSTEM.pause(this, pauseNs, () -> closed || wanted);
    }
  }

  private void wake() {
    wanted = true;
    LockSupport.unpark(thread);
  }

  /** Ends it, within 10 s. */
  @Override
  public void close() {
    closed = true;
    LockSupport.unpark(thread);
    try {
      thread.join(JOIN_MS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
