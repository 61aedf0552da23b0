package io.takofs.server.zone;

import java.util.concurrent.atomic.AtomicInteger;

/**
 * Reference-counted action: runs on the last release. The creator holds the first reference.
 *
 * <p>Thread rule: any thread; the one that releases last runs the action.
 */
public final class ReplyGate {
  private final AtomicInteger holders = new AtomicInteger(1);
  private volatile String failure;
  private Runnable action = () -> {};

  void hold() {
    holders.incrementAndGet();
  }

  /** Sets the action, before the creator releases. */
  public void then(Runnable wanted) {
    action = wanted;
  }

  /** Says that what a holder waits for failed. */
  void fail(String why) {
    failure = why;
  }

  /** The last {@link #fail}, or null. */
  public String failure() {
    return failure;
  }

  public void release() {
    if (holders.decrementAndGet() == 0) {
      action.run();
    }
  }
}
