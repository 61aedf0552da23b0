package io.takofs.bench.log;

import io.takofs.transport.CompletionHandler;
import io.takofs.transport.CompletionQueue;

/**
 * The queue in which the writes of {@link CallWriter} complete; the calls' own has their answers.
 *
 * <p>Thread rule: one thread.
 */
final class CallCompletions implements CompletionQueue {
  private final CallSender calls;
  private CallWriter writer;

  CallCompletions(CallSender calls) {
    this.calls = calls;
  }

  /** The writes of {@code next} complete here from now on. */
  void serve(CallWriter next) {
    writer = next;
  }

  @Override
  public int poll(CompletionHandler handler, int max) {
    int count = calls.poll();
    return writer == null ? count : writer.deliver(handler, max);
  }

  @Override
  public void await(long timeoutNs) {
    throw new UnsupportedOperationException("the owner polls");
  }

  @Override
  public void wakeup() {}

  @Override
  public boolean onEvent(Runnable callback) {
    return false;
  }

  @Override
  public void close() {}
}
