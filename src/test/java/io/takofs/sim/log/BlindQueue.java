package io.takofs.sim.log;

import io.takofs.transport.CompletionHandler;
import io.takofs.transport.CompletionQueue;
import io.takofs.transport.CompletionStatus;
import io.takofs.transport.QueuePair;
import java.util.Map;

/**
 * A queue that says of each operation that it succeeded.
 *
 * @param pairs the connections that stand for others, by those
 */
record BlindQueue(CompletionQueue queue, Map<QueuePair, QueuePair> pairs)
    implements CompletionQueue {
  @Override
  public int poll(CompletionHandler handler, int max) {
    return queue.poll(
        (pair, id, opcode, status, bytes, immediate) ->
            handler.onCompletion(
                pairs.getOrDefault(pair, pair),
                id,
                opcode,
                CompletionStatus.SUCCESS,
                bytes,
                immediate),
        max);
  }

  @Override
  public void await(long timeoutNs) {
    queue.await(timeoutNs);
  }

  @Override
  public void wakeup() {
    queue.wakeup();
  }

  @Override
  public boolean onEvent(Runnable callback) {
    return queue.onEvent(callback);
  }

  @Override
  public void close() {
    queue.close();
  }
}
