package io.takofs.server.zone;

import java.util.concurrent.atomic.AtomicInteger;

/**
 * Something to do once all who hold it have let go; whoever makes it is the first.
 *
 * <p>Thread rule: any thread; the last to let go runs it.
 */
public final class Ticket {
  private final AtomicInteger holders = new AtomicInteger(1);
  private volatile String failure;
  private Runnable action = () -> {};

  void hold() {
    holders.incrementAndGet();
  }

  /** Says what to do, before the maker lets go. */
  public void then(Runnable wanted) {
    action = wanted;
  }

  /** What it is held for cannot be had. */
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
