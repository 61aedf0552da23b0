package io.takofs.server.zone;

import io.takofs.base.Clock;
import io.takofs.base.TakoException;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * Connections to the servers that are copied from. They outlast the pauses in which a leader asks
 * again; one that is idle is closed though others are used, because it keeps its server's memory
 * mapped.
 *
 * <p>Thread rule: one thread.
 */
final class OpenSources implements AutoCloseable {
  /** Connections at a time; each has memory of its own. */
  static final int MAX = 8;

  /** Time after which one that was not used is closed. */
  static final long IDLE_NS = TimeUnit.SECONDS.toNanos(5);

  private static final class Open {
    final SlabSource source;
    long usedNs;

    Open(SlabSource source) {
      this.source = source;
    }
  }

  private final SlabSources sources;
  private final Clock clock;

  /** By server, the one used last at the end. */
  private final Map<Integer, Open> open = new LinkedHashMap<>(MAX, 0.75f, true);

  OpenSources(SlabSources sources, Clock clock) {
    this.sources = sources;
    this.clock = clock;
  }

  /** The connection to {@code server}; null when there is none. */
  SlabSource get(int server) {
    Open known = open.get(server);
    return known == null ? null : known.source;
  }

  /**
   * The connection to {@code server}, which is made if there is none; the one used first is closed
   * when there are too many.
   *
   * @throws TakoException when the server cannot be reached
   */
  SlabSource open(int server) throws TakoException {
    Open known = open.get(server);
    if (known == null) {
      known = new Open(sources.open(server));
      if (open.size() == MAX) {
        drop(open.keySet().iterator().next());
      }
      open.put(server, known);
    }
    known.usedNs = clock.nanoTime();
    return known.source;
  }

  /** Closes the connection to {@code server}, if there is one. */
  void drop(int server) {
    Open known = open.remove(server);
    if (known != null) {
      known.source.close();
    }
  }

  /** As {@link SlabSource#forget}, of all. */
  void forget() {
    open.values().forEach(each -> each.source.forget());
  }

  /**
   * Closes those that are idle.
   *
   * @return nanoseconds until another one may be; Long.MAX_VALUE when there is none
   */
  long closeIdle() {
    long now = clock.nanoTime();
    long least = Long.MAX_VALUE;
    for (Iterator<Open> each = open.values().iterator(); each.hasNext(); ) {
      Open next = each.next();
      long leftNs = next.usedNs + IDLE_NS - now;
      if (leftNs <= 0) {
        each.remove();
        next.source.close();
      } else {
        least = Math.min(least, leftNs);
      }
    }
    return least;
  }

  @Override
  public void close() {
    open.values().forEach(each -> each.source.close());
    open.clear();
  }
}
