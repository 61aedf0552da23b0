package io.takofs.server.peer;

import java.util.concurrent.TimeUnit;

/**
 * The patience with servers that do not answer.
 *
 * @param timeoutNs that one call and one attempt to connect may take
 * @param backoffMaxNs longest pause between two attempts to connect
 */
public record Patience(long timeoutNs, long backoffMaxNs) {
  /** What leaders have with servers that keep slabs. */
  static final Patience OF_LEADERS =
      new Patience(TimeUnit.SECONDS.toNanos(5), TimeUnit.SECONDS.toNanos(2));
}
