package io.takofs.rpc;

import java.util.EnumMap;
import java.util.Map;

/**
 * The handlers of an {@link RpcServer}: of the calls over each kind of connection, and of the
 * connections to the data zone and to the log. A connection of a kind without a handler is refused.
 *
 * <p>Thread rule: immutable.
 */
public final class RpcServices {
  private final Map<ConnectionKind, RpcHandler> calls = new EnumMap<>(ConnectionKind.class);
  private final DataHandler data;
  private final LogHandler log;

  /** Of a server without a log that others reach. */
  public RpcServices(Map<ConnectionKind, RpcHandler> calls, DataHandler data) {
    this(calls, data, null);
  }

  /**
   * @param log null for a server without a log that others reach
   */
  public RpcServices(Map<ConnectionKind, RpcHandler> calls, DataHandler data, LogHandler log) {
    this.calls.putAll(calls);
    this.data = data;
    this.log = log;
  }

  /** The handler of calls over connections of {@code kind}; null for none. */
  RpcHandler of(ConnectionKind kind) {
    return calls.get(kind);
  }

  DataHandler data() {
    return data;
  }

  /** The handler of connections to the log; null for none. */
  LogHandler log() {
    return log;
  }
}
