package io.takofs.server;

import java.util.concurrent.atomic.AtomicInteger;

/**
 * Something to do once all who hold it have let go; whoever makes it is the first.
 *
 * <p>Thread rule: any thread; the last to let go runs it.
 */
final class Ticket {
  private final AtomicInteger holders = new AtomicInteger(1);
  private Runnable action = () -> {};

  void hold() {
    holders.incrementAndGet();
  }

  /** Says what to do, before the maker lets go. */
  void then(Runnable wanted) {
    action = wanted;
  }

  void release() {
    if (holders.decrementAndGet() == 0) {
      action.run();
    }
  }
}
