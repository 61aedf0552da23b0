package io.takofs.server;

import java.util.concurrent.atomic.AtomicInteger;

/**
 * Something to do once all who hold it have let go; whoever makes it is the first.
 *
 * <p>Thread rule: any thread; the last to let go runs it.
 */
final class Ticket {
  private final AtomicInteger holders = new AtomicInteger(1);
  private volatile String failure;
  private Runnable action = () -> {};

  void hold() {
    holders.incrementAndGet();
  }

  /** Says what to do, before the maker lets go. */
  void then(Runnable wanted) {
    action = wanted;
  }

  /** What it is held for cannot be had. */
  void fail(String why) {
    failure = why;
  }

  /** The last {@link #fail}, or null. */
  String failure() {
    return failure;
  }

  void release() {
    if (holders.decrementAndGet() == 0) {
      action.run();
    }
  }
}
