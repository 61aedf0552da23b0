package io.takofs.server.log;

import io.takofs.transport.CompletionHandler;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * The transports over which the members of a group reach this one's log, and it theirs.
 *
 * <p>Thread rule: any thread; {@link #poll} by the holder of the replica's monitor.
 */
public final class LogTransports {
  private final List<LogTransport> all = new CopyOnWriteArrayList<>();

  /** Peers may use {@code transport} from now on. */
  public void add(LogTransport transport) {
    all.add(transport);
  }

  /** Peers may use {@code transport} no more. */
  public void remove(LogTransport transport) {
    all.remove(transport);
  }

  /** The transport of this name; null when there is none. */
  public LogTransport find(String name) {
    for (LogTransport each : all) {
      if (each.name().equals(name)) {
        return each;
      }
    }
    return null;
  }

  /** Delivers what has completed on each transport, at most {@code max} of each; how many. */
  int poll(CompletionHandler handler, int max) {
    int count = 0;
    for (LogTransport each : all) {
      count += each.queue().poll(handler, max);
    }
    return count;
  }
}
