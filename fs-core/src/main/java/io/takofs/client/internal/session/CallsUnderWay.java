package io.takofs.client.internal.session;

import java.util.concurrent.atomic.AtomicInteger;

/**
 * The calls over one connection that have no answer yet, and since when none had one.
 *
 * <p>Thread rule: any thread.
 */
final class CallsUnderWay {
  private final AtomicInteger calls = new AtomicInteger();
  private volatile long quietSinceNs;

  void began(long nowNs) {
    if (calls.getAndIncrement() == 0) {
      quietSinceNs = nowNs;
    }
  }

  void ended(long nowNs) {
    quietSinceNs = nowNs;
    calls.decrementAndGet();
  }

  /** It was asked whether the calls may still be answered: the silence counts anew. */
  void asked(long nowNs) {
    quietSinceNs = nowNs;
  }

  boolean isAny() {
    return calls.get() > 0;
  }

  /** Nanoseconds for which calls wait and none was answered; 0 without a call. */
  long silentNs(long nowNs) {
    return isAny() ? nowNs - quietSinceNs : 0;
  }
}
