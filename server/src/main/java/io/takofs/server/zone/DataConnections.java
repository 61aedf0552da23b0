package io.takofs.server.zone;

import io.takofs.server.extent.Location;
import io.takofs.transport.QueuePair;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BooleanSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The connections through which clients reach the data zone, kept until it is certain that nothing
 * more arrives through them.
 *
 * <p>Thread rule: any thread. Has its own lock, under which nothing else is taken: revoking a pair
 * may wait for its transport.
 */
public final class DataConnections {
  private static final Logger LOG = LoggerFactory.getLogger(DataConnections.class);

  private final Map<Long, List<Connected>> pairs = new HashMap<>();
  private final Set<QueuePair> ended = new LinkedHashSet<>();
  private final Set<QueuePair> ending = new HashSet<>(); // those of ended that a thread is at
  private final BooleanSupplier formerPeers;
  private final WriteWindows windows;
  private long lastNumber; // of the last connection, counted since the start

  private final Set<Long> metHere = new HashSet<>(); // while there may be former peers
  private boolean maybeFormerPeers = true;

  /**
   * @param formerPeers whether somebody may still write to the data zone through a connection to an
   *     earlier incarnation of the server; asked until it says no
   * @param windows of all connections
   */
  DataConnections(BooleanSupplier formerPeers, WriteWindows windows) {
    this.formerPeers = formerPeers;
    this.windows = windows;
  }

  /** A connection, its number, and the arenas that it may address. */
  private record Connected(QueuePair pair, long number, ArenaExport export, Runnable onClosed) {}

  /**
   * A connection of a client that had no other when it was admitted. If it has one by now, two
   * attempts of the client met, and it is not known here which one it goes on with: both end, and
   * it connects again.
   *
   * @param onClosed runs when the pair is closed
   */
  public synchronized void add(
      long clientId, QueuePair pair, ArenaExport export, Runnable onClosed) {
    List<Connected> mine = pairs.computeIfAbsent(clientId, id -> new ArrayList<>());
    mine.add(new Connected(pair, ++lastNumber, export, onClosed));
    if (mine.size() > 1) {
      fence(clientId);
    }
    if (pair.state() != QueuePair.State.CONNECTED) {
      ended.add(pair); // it was told before this was known
    }
    if (maybeFormerPeers) {
      metHere.add(clientId); // a client that connects has ended its earlier connection
    }
  }

  /**
   * The export that the present connection of {@code clientId} may address; null when it has none.
   */
  public synchronized ArenaExport exportTo(long clientId) {
    List<Connected> mine = pairs.getOrDefault(clientId, List.of());
    return mine.isEmpty() ? null : mine.get(mine.size() - 1).export;
  }

  /** Whether something may still arrive through a connection of {@code clientId}. */
  public synchronized boolean isConnected(long clientId) {
    return pairs.containsKey(clientId);
  }

  /** The number of the latest connection; later ones have higher numbers. 0 before the first. */
  synchronized long lastNumber() {
    return lastNumber;
  }

  /**
   * Whether {@code clientId} can not store any more in {@code range} through a connection up to
   * number {@code last}, and nobody through a window. Later connections do not count: on each new
   * one a writer asks whether it still has its lease before it stores anything.
   */
  synchronized boolean isFencedUpTo(long clientId, Location range, long last) {
    return pairs.getOrDefault(clientId, List.of()).stream()
            .noneMatch(connected -> connected.export.isWritable() && connected.number <= last)
        && !windows.isWritable(range)
        && (!maybeFormerPeers || metHere.contains(clientId));
  }

  /** Whether a client of an earlier incarnation may still write to the data zone. */
  synchronized boolean hasFormerPeers() {
    return maybeFormerPeers;
  }

  /** The peer closed {@code pair} or died; {@link #sweep} closes it when that is safe. */
  public synchronized void ended(QueuePair pair) {
    ended.add(pair);
  }

  /** Lets nothing more of {@code clientId} arrive, as soon as {@link #sweep} can. */
  public synchronized void fence(long clientId) {
    pairs.getOrDefault(clientId, List.of()).forEach(connected -> ended.add(connected.pair));
  }

  /** As {@link #fence(long)}, for connections up to number {@code last}. */
  synchronized void fence(long clientId, long last) {
    pairs.getOrDefault(clientId, List.of()).stream()
        .filter(connected -> connected.number <= last)
        .forEach(connected -> ended.add(connected.pair));
  }

  /** Revokes and closes what has ended or was fenced, where that can be promised by now. */
  public void sweep() {
    if (hasFormerPeers() && !formerPeers.getAsBoolean()) {
      forgetFormerPeers();
    }
    revokeEnded();
  }

  /** The part of {@link #sweep} that never waits. */
  public void revokeEnded() {
    for (QueuePair pair : claimEnded()) {
      try {
        if (tryRevoke(pair)) {
          windows.gone(pair);
          close(pair);
        }
      } finally {
        unclaim(pair);
      }
    }
  }

  /** False also when the transport could not even try: the pair is asked for again. */
  static boolean tryRevoke(QueuePair pair) {
    try {
      return pair.revoke();
    } catch (UncheckedIOException e) {
      LOG.warn("cannot revoke {} yet: {}", pair, e.getMessage());
      return false;
    }
  }

  /** One thread ends a pair, from revoking it to closing it; it counts as connected until then. */
  private synchronized List<QueuePair> claimEnded() {
    return ended.stream().filter(ending::add).toList();
  }

  private synchronized void unclaim(QueuePair pair) {
    ending.remove(pair);
  }

  private void close(QueuePair pair) {
    Connected connected = drop(pair);
    if (connected != null) { // else another thread is at it
      pair.close();
      connected.onClosed.run();
    }
  }

  /** Ends all connections, at the end of the server. */
  public void close() {
    for (QueuePair pair : all()) {
      tryRevoke(pair); // closing it, below, does what this cannot promise yet
      windows.gone(pair);
      close(pair);
    }
  }

  private synchronized void forgetFormerPeers() {
    maybeFormerPeers = false;
    metHere.clear();
  }

  private synchronized List<QueuePair> all() {
    return pairs.values().stream().flatMap(List::stream).map(Connected::pair).toList();
  }

  /** Forgets a pair; null when it is forgotten already. */
  private synchronized Connected drop(QueuePair pair) {
    ended.remove(pair);
    Connected dropped = null;
    for (List<Connected> mine : pairs.values()) {
      for (Connected connected : mine) {
        dropped = connected.pair == pair ? connected : dropped;
      }
      mine.remove(dropped);
    }
    pairs.values().removeIf(List::isEmpty);
    return dropped;
  }
}
