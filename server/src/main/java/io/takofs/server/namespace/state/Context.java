package io.takofs.server.namespace.state;

import io.takofs.proto.Caller;
import io.takofs.proto.LogEntry;
import io.takofs.server.store.Transaction;

/**
 * The context in which one log entry is applied.
 *
 * @param index the entry's position in the log: also the epoch of leases and the generation of
 *     grants it gives
 */
public record Context(State state, Transaction tx, long index, LogEntry entry, Ids ids) {
  public static Context of(State state, long index, LogEntry entry) {
    return new Context(state, new Transaction(state.store), index, entry, new Ids(index));
  }

  public long timeMs() {
    return entry.getTimeMs();
  }

  public long clientId() {
    return entry.getClientId();
  }

  public Caller caller() {
    return entry.getCaller();
  }

  /** Whether a client did not renew its leases for the soft limit. */
  public boolean isLapsed(long clientId) {
    return entry.getLapsedClientsList().contains(clientId);
  }
}
