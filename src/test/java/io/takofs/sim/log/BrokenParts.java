package io.takofs.sim.log;

import io.takofs.base.TakoException;
import io.takofs.server.log.LogReplica;
import io.takofs.server.log.LogTransports;
import io.takofs.server.log.WeakReplicas;
import io.takofs.server.segment.LogIdentity;
import io.takofs.server.segment.LogZone;
import io.takofs.sim.SimProcess;
import io.takofs.sim.SimScheduler;
import io.takofs.transport.CompletionQueue;
import io.takofs.transport.QueuePair;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

/** The parts of a member's process, weak ones where a rule is broken. */
final class BrokenParts {
  private static final long LATE_REVOKE_NS = 20_000_000;

  private final Set<BrokenRule> broken;
  private final SimScheduler scheduler;
  private final SimProcess own;
  private final Map<QueuePair, QueuePair> incoming = new HashMap<>();
  private final Map<QueuePair, QueuePair> outgoing = new HashMap<>();
  private StaleQueue stale; // null unless completions may be late

  BrokenParts(Set<BrokenRule> broken, SimScheduler scheduler, SimProcess own) {
    this.broken = broken;
    this.scheduler = scheduler;
    this.own = own;
  }

  private interface Opening {
    LogReplica open(
        int server,
        LogZone zone,
        LogTransports transports,
        LogIdentity identity,
        long checkpointIndex,
        BooleanSupplier writersAreGone)
        throws TakoException;
  }

  /** As {@link LogReplica#open}. */
  LogReplica replica(
      int server,
      LogZone zone,
      LogTransports transports,
      LogIdentity identity,
      long checkpointIndex,
      BooleanSupplier writersAreGone)
      throws TakoException {
    return opening().open(server, zone, transports, identity, checkpointIndex, writersAreGone);
  }

  private Opening opening() {
    for (BrokenRule rule : broken) {
      switch (rule) {
        case HEADER_CHECKSUM -> {
          return WeakReplicas::withoutPayloadChecksums;
        }
        case NO_FRAME_CHECKSUM -> {
          return WeakReplicas::withoutChecksums;
        }
        case SELF_UNFENCED -> {
          return WeakReplicas::withoutFenceAgainstItself;
        }
        case SELF_CHECKED_FIRST -> {
          return WeakReplicas::withLateLooksAtItself;
        }
        case NO_EPOCH_FENCE -> {
          return WeakReplicas::withoutEpochs;
        }
        case LAST_ENTRY_TERM -> {
          return WeakReplicas::comparedByLastEntries;
        }
        case GIVES_UP_COUNTED -> {
          return WeakReplicas::missingWhatTheyHave;
        }
        case CUT_COUNTED -> {
          return WeakReplicas::askingForItsFirstLog;
        }
        default -> {} // it is broken elsewhere
      }
    }
    return LogReplica::open;
  }

  /** The queue in which a leader's writes complete. */
  CompletionQueue counted(CompletionQueue queue) {
    if (broken.contains(BrokenRule.STALE_GRANT)) {
      stale = new StaleQueue(queue, () -> scheduler.random().nextInt(10) == 0);
      return stale;
    }
    return broken.contains(BrokenRule.FAILED_COUNTS) || broken.contains(BrokenRule.RECONNECT_BLIND)
        ? new BlindQueue(queue, outgoing)
        : queue;
  }

  /**
   * A connection that this member asked for.
   *
   * @param again connects in the same way once more
   */
  QueuePair outgoing(QueuePair pair, int server, Consumer<Consumer<QueuePair>> again) {
    if (stale != null) {
      return stale.connected(pair, server);
    }
    if (!broken.contains(BrokenRule.RECONNECT_BLIND)) {
      return pair;
    }
    BlindPair[] blind = new BlindPair[1];
    blind[0] =
        new BlindPair(
            pair,
            answer ->
                again.accept(
                    next -> {
                      if (next != null) {
                        outgoing.put(next, blind[0]);
                      }
                      answer.accept(next);
                    }));
    outgoing.put(pair, blind[0]);
    return blind[0];
  }

  /** A leader's connection to this member. */
  QueuePair incoming(QueuePair pair) {
    QueuePair weak = pair;
    if (broken.contains(BrokenRule.SCAN_BEFORE_REVOKE)) {
      weak = new LatePair(pair, () -> revokeLate(pair), true);
    } else if (broken.contains(BrokenRule.COPY_BEFORE_REVOKE)) {
      weak = new LatePair(pair, () -> revokeLate(pair), false);
    } else if (broken.contains(BrokenRule.REUSE_MEMORY)) {
      weak = new LatePair(pair, pair::revoke, true);
    }
    incoming.put(pair, weak);
    return weak;
  }

  private void revokeLate(QueuePair pair) {
    scheduler.schedule(own, LATE_REVOKE_NS, pair::revoke);
  }

  /** What {@link #incoming} gave for a connection that ends. */
  QueuePair known(QueuePair pair) {
    return incoming.getOrDefault(pair, pair);
  }
}
