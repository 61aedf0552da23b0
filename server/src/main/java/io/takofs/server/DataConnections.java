package io.takofs.server;

import io.takofs.transport.QueuePair;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BooleanSupplier;

/**
 * The connections through which clients reach the data zone, kept until it is certain that nothing
 * more arrives through them.
 *
 * <p>Thread rule: any thread. Has its own lock, under which nothing else is taken: revoking a pair
 * may wait for its transport.
 */
final class DataConnections {
  private final Map<Long, List<Connected>> pairs = new HashMap<>();
  private final Set<QueuePair> ended = new LinkedHashSet<>();
  private final BooleanSupplier formerPeers;
  private final Set<Long> metHere = new HashSet<>(); // while there may be former peers
  private boolean maybeFormerPeers = true;

  /**
   * @param formerPeers whether somebody may still write to the data zone through a connection to an
   *     earlier incarnation of the server; asked until it says no
   */
  DataConnections(BooleanSupplier formerPeers) {
    this.formerPeers = formerPeers;
  }

  /** A connection and when it was made, before the client knew of it. */
  private record Connected(QueuePair pair, long sinceMs) {}

  /** A client has one connection at a time, and the others end if it should have more. */
  synchronized void add(long clientId, QueuePair pair, long nowMs) {
    List<Connected> mine = pairs.computeIfAbsent(clientId, id -> new ArrayList<>());
    mine.forEach(earlier -> ended.add(earlier.pair));
    mine.add(new Connected(pair, nowMs));
    if (maybeFormerPeers) {
      metHere.add(clientId); // one that connects has let go of its earlier connection
    }
  }

  /** Whether something may still arrive through a connection of {@code clientId}. */
  synchronized boolean isConnected(long clientId) {
    return pairs.containsKey(clientId);
  }

  /**
   * Whether {@code clientId} can not store any more in an extent that was taken from it at {@code
   * takenMs}. Connections made since do not count: on each new one a writer asks whether it still
   * has its lease before it stores anything.
   */
  synchronized boolean isFenced(long clientId, long takenMs) {
    return pairs.getOrDefault(clientId, List.of()).stream()
            .noneMatch(connected -> connected.sinceMs <= takenMs)
        && (!maybeFormerPeers || metHere.contains(clientId));
  }

  /** The peer closed {@code pair} or died; {@link #sweep} lets go of it when that is safe. */
  synchronized void ended(QueuePair pair) {
    ended.add(pair);
  }

  /** Lets nothing more of {@code clientId} arrive, as soon as {@link #sweep} can. */
  synchronized void fence(long clientId) {
    pairs.getOrDefault(clientId, List.of()).forEach(connected -> ended.add(connected.pair));
  }

  /** Revokes and closes what has ended or was fenced, where that can be promised by now. */
  void sweep() {
    if (mayHaveFormerPeers() && !formerPeers.getAsBoolean()) {
      forgetFormerPeers();
    }
    revokeEnded();
  }

  /** The part of {@link #sweep} that never waits. */
  void revokeEnded() {
    for (QueuePair pair : endedPairs()) {
      if (pair.revoke()) {
        drop(pair);
        pair.close();
      }
    }
  }

  /** Ends all connections, at the end of the server. */
  void close() {
    for (QueuePair pair : all()) {
      drop(pair);
      pair.close();
    }
  }

  private synchronized boolean mayHaveFormerPeers() {
    return maybeFormerPeers;
  }

  private synchronized void forgetFormerPeers() {
    maybeFormerPeers = false;
    metHere.clear();
  }

  private synchronized List<QueuePair> endedPairs() {
    return List.copyOf(ended);
  }

  private synchronized List<QueuePair> all() {
    return pairs.values().stream().flatMap(List::stream).map(Connected::pair).toList();
  }

  private synchronized void drop(QueuePair pair) {
    ended.remove(pair);
    pairs.values().forEach(mine -> mine.removeIf(connected -> connected.pair == pair));
    pairs.values().removeIf(List::isEmpty);
  }
}
