package io.takofs.rpc;

import java.util.EnumMap;
import java.util.Map;

/**
 * The handlers of an {@link RpcServer}: of the calls over each kind of connection, and of the
 * connections to the data zone. A connection of a kind without a handler is refused.
 *
 * <p>Thread rule: immutable.
 */
public final class RpcServices {
  private final Map<ConnectionKind, RpcHandler> calls = new EnumMap<>(ConnectionKind.class);
  private final DataHandler data;

  public RpcServices(Map<ConnectionKind, RpcHandler> calls, DataHandler data) {
    this.calls.putAll(calls);
    this.data = data;
  }

  /** The handler of calls over connections of {@code kind}; null for none. */
  RpcHandler of(ConnectionKind kind) {
    return calls.get(kind);
  }

  DataHandler data() {
    return data;
  }
}
