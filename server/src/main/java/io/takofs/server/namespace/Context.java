package io.takofs.server.namespace;

import io.takofs.proto.Caller;
import io.takofs.proto.LogEntry;
import io.takofs.server.store.Transaction;

/**
 * What one log entry is applied with.
 *
 * @param index the entry's position in the log: also the epoch of leases and the generation of
 *     grants it gives
 */
record Context(State state, Transaction tx, long index, LogEntry entry, Ids ids) {
  static Context of(State state, long index, LogEntry entry) {
    return new Context(state, new Transaction(state.store), index, entry, new Ids(index));
  }

  long timeMs() {
    return entry.getTimeMs();
  }

  long clientId() {
    return entry.getClientId();
  }

  Caller caller() {
    return entry.getCaller();
  }

  /** Whether a client did not renew its leases for the soft limit. */
  boolean isLapsed(long clientId) {
    return entry.getLapsedClientsList().contains(clientId);
  }
}
