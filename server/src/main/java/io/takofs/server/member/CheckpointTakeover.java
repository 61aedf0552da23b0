package io.takofs.server.member;

import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.Phaser;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Has the checkpoint of another member taken over when that is needed: one attempt at a time, each
 * from the next of the members that have one, with pauses that grow while none succeeds and the
 * same member leads.
 *
 * <p>Thread rule: {@link #tick} and {@link #close} from one thread; attempts have another, which
 * may wait.
 */
final class CheckpointTakeover implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(CheckpointTakeover.class);

  static final long FIRST_PAUSE_NS = TimeUnit.SECONDS.toNanos(1);
  static final long LAST_PAUSE_NS = TimeUnit.SECONDS.toNanos(16);

  /** Takes over the checkpoint of one member. */
  @FunctionalInterface
  interface Attempt {
    /**
     * Returns when this member has it.
     *
     * @param server that has it now
     * @param stopped whether nobody wants it any more; asked often
     * @throws Exception when it does not have it; it has a state or none then, as before, and
     *     another attempt is possible
     */
    void run(int server, BooleanSupplier stopped) throws Exception;
  }

  /** Of the last attempt, until a tick has seen it. */
  private enum Outcome {
    SEEN,
    DONE,
    FAILED
  }

  private final BooleanSupplier needed;
  private final Attempt attempt;
  private final Executor threads;
  private final Phaser running = new Phaser(1); // the attempt, and who closes
  private int leader; // the last one that was known
  private int turn;
  private int failed; // attempts in a row, as the last tick found
  private long notBeforeNs;
  private volatile boolean busy;
  private volatile Outcome outcome = Outcome.SEEN;
  private volatile boolean stopped;

  /**
   * @param needed whether one is needed; quick
   * @param threads that may wait
   */
  CheckpointTakeover(BooleanSupplier needed, Attempt attempt, Executor threads) {
    this.needed = needed;
    this.attempt = attempt;
    this.threads = threads;
  }

  /**
   * Begins an attempt when one is due.
   *
   * @param leads the member that leads; 0 when none is known
   * @param sources the members that may have a checkpoint, the best first
   */
  void tick(long nowNs, int leads, List<Integer> sources) {
    if (busy || stopped) {
      return;
    }
    Outcome last = outcome;
    outcome = Outcome.SEEN;
    if (last == Outcome.DONE) {
      beginWithTheBest();
    } else if (last == Outcome.FAILED) {
      failed++;
      long pauseNs = FIRST_PAUSE_NS << Math.min(failed - 1, Long.SIZE / 4);
      notBeforeNs = nowNs + Math.min(pauseNs, LAST_PAUSE_NS);
    }
    if (!needed.getAsBoolean()) {
      beginWithTheBest();
      return;
    }
    if (leads != 0 && leads != leader) {
      leader = leads;
      beginWithTheBest(); // why attempts failed may be over
    }
    if (sources.isEmpty() || (failed > 0 && nowNs - notBeforeNs < 0)) {
      return;
    }
    int source = sources.get(turn++ % sources.size());
    busy = true;
    running.register();
    try {
      threads.execute(() -> run(source));
    } catch (RejectedExecutionException e) {
      end(); // this server stops
    }
  }

  private void beginWithTheBest() {
    failed = 0;
    turn = 0;
  }

  private void run(int source) {
    try {
      attempt.run(source, () -> stopped);
      outcome = Outcome.DONE;
    } catch (Exception | Error e) {
      outcome = Outcome.FAILED;
      if (!stopped) {
        LOG.warn(
            "the checkpoint of server {} was not taken over, another attempt follows: {}",
            source,
            e.toString());
      }
    } finally {
      end();
    }
  }

  private void end() {
    busy = false;
    running.arriveAndDeregister();
  }

  /** Whether an attempt is under way. */
  boolean isBusy() {
    return busy;
  }

  /** Waits until the attempt under way, if there is one, has ended. */
  @Override
  public void close() {
    stopped = true;
    running.arriveAndAwaitAdvance();
  }
}
