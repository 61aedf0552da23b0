package io.takofs.sim.log;

import io.takofs.transport.CompletionHandler;
import io.takofs.transport.CompletionQueue;
import io.takofs.transport.CompletionStatus;
import io.takofs.transport.Opcode;
import io.takofs.transport.QueuePair;
import java.util.HashMap;
import java.util.Map;
import java.util.function.BooleanSupplier;

/**
 * A leader's queue that counts by members and not by connections: what was under way when a
 * connection ended completes later, and counts for what the next one writes.
 */
final class StaleQueue implements CompletionQueue {
  private final CompletionQueue queue;
  private final BooleanSupplier isLateNow;
  private final Map<QueuePair, StalePair> pairs = new HashMap<>();
  private final Map<Integer, StalePair> newest = new HashMap<>(); // by member
  private final Map<Integer, Integer> late = new HashMap<>(); // completions, by member

  /**
   * @param isLateNow whether a completion of a former connection comes now
   */
  StaleQueue(CompletionQueue queue, BooleanSupplier isLateNow) {
    this.queue = queue;
    this.isLateNow = isLateNow;
  }

  QueuePair connected(QueuePair pair, int server) {
    StalePair stale = new StalePair(pair, server);
    pairs.put(pair, stale);
    newest.put(server, stale);
    return stale;
  }

  @Override
  public int poll(CompletionHandler handler, int max) {
    int count =
        queue.poll(
            (pair, id, opcode, status, bytes, immediate) -> {
              StalePair stale = pairs.get(pair);
              if (stale == null) {
                handler.onCompletion(pair, id, opcode, status, bytes, immediate);
              } else if (status != CompletionStatus.SUCCESS) {
                late.merge(stale.server(), 1, Integer::sum);
                handler.onCompletion(stale, id, opcode, status, bytes, immediate);
              } else if (stale.count(id)) {
                handler.onCompletion(stale, id, opcode, status, bytes, immediate);
              }
            },
            max);
    newest.values().forEach(pair -> completeLate(pair, handler));
    return count;
  }

  private void completeLate(StalePair pair, CompletionHandler handler) {
    long id = pair.nextToCount();
    if (id != 0 && late.getOrDefault(pair.server(), 0) > 0 && isLateNow.getAsBoolean()) {
      late.merge(pair.server(), -1, Integer::sum);
      pair.count(id);
      handler.onCompletion(pair, id, Opcode.WRITE, CompletionStatus.SUCCESS, 0, 0);
    }
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
