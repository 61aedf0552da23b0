package io.takofs.server.member;

import io.takofs.server.log.GroupConfig;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Phaser;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Has the checkpoint of another member taken over when that is needed: one attempt at a time, each
 * from the next of the members that have one, with pauses that grow while none succeeds and the
 * same member leads.
 *
 * <p>Thread rule: {@link #tick} and {@link #close} from one thread; an attempt ends on any.
 */
public final class CheckpointTakeover implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(CheckpointTakeover.class);

  /** The pause after the first attempt that fails. */
  static final long PAUSE_NS = TimeUnit.SECONDS.toNanos(1);

  /** The pause doubles with each failure, so many times at most. */
  static final int DOUBLINGS = 4;

  /** Takes over the checkpoint of one member. */
  @FunctionalInterface
  public interface Attempt {
    /**
     * Begins, and does not wait.
     *
     * @param server that has the checkpoint
     * @param stopped whether nobody wants it any more; to be asked often
     * @param ended is told once, by any thread: null when this member has it; else why it has not.
     *     Then it has the state that it had, or none, and another attempt is possible.
     */
    void begin(int server, BooleanSupplier stopped, Consumer<Throwable> ended);
  }

  /** Of the last attempt, until a tick has seen it. */
  private enum Outcome {
    SEEN,
    DONE,
    FAILED
  }

  private final BooleanSupplier needed;
  private final Attempt attempt;
  private final long pauseNs;
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
   * @param pauseNs after the first attempt that fails
   */
  public CheckpointTakeover(BooleanSupplier needed, Attempt attempt, long pauseNs) {
    this.needed = needed;
    this.attempt = attempt;
    this.pauseNs = pauseNs;
  }

  /**
   * The servers that may have a checkpoint, the leader first: it may be no member of the newest
   * configuration, and so may all that have a state. The one that this member has promised its term
   * to comes next: it is about to lead, maybe in a configuration that is not known here yet.
   *
   * @param leads the member that leads; 0 when none is known
   * @param promisedTo the member to which the highest term is promised; 0 for none
   * @param self number of this server
   */
  public static List<Integer> sources(int leads, int promisedTo, GroupConfig config, int self) {
    Set<Integer> sources = new LinkedHashSet<>();
    sources.add(leads);
    sources.add(promisedTo);
    sources.addAll(config.members());
    if (!config.active()) {
      sources.addAll(config.previous());
    }
    sources.remove(0);
    sources.remove(self);
    return List.copyOf(sources);
  }

  /**
   * Begins an attempt when one is due.
   *
   * @param leads the member that leads; 0 when none is known
   * @param sources the members that may have a checkpoint, the best first
   */
  public void tick(long nowNs, int leads, List<Integer> sources) {
    if (busy || stopped) {
      return;
    }
    Outcome last = outcome;
    outcome = Outcome.SEEN;
    if (last == Outcome.DONE) {
      beginWithTheBest();
    } else if (last == Outcome.FAILED) {
      failed++;
      notBeforeNs = nowNs + (pauseNs << Math.min(failed - 1, DOUBLINGS));
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
    attempt.begin(source, () -> stopped, failure -> end(source, failure));
  }

  private void beginWithTheBest() {
    failed = 0;
    turn = 0;
  }

  private void end(int source, Throwable failure) {
    outcome = failure == null ? Outcome.DONE : Outcome.FAILED;
    busy = false;
    running.arriveAndDeregister();
    if (failure != null && !stopped) {
      LOG.warn(
          "the checkpoint of server {} was not taken over; where one is still needed, another"
              + " attempt follows: {}",
          source,
          failure.toString());
    }
  }

  /** Whether an attempt is under way. */
  public boolean isBusy() {
    return busy;
  }

  /** Waits until the attempt under way, if there is one, has ended. */
  @Override
  public void close() {
    stopped = true;
    running.arriveAndAwaitAdvance();
  }
}
