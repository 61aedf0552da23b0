package io.takofs.client.internal.session;

import io.takofs.client.internal.zone.MemoryBudget;
import io.takofs.transport.TransportCounters;
import java.io.IOException;
import java.util.List;
import java.util.Map;

/** Makes connections to the server of a client's session, and to others that have data. */
public interface Connector extends AutoCloseable {
  /**
   * Connects.
   *
   * @param clientId session the connection is for, 0 for a new one
   * @param deadlineNs of the client's clock
   */
  ServerConnection connect(long clientId, long deadlineNs) throws IOException;

  /**
   * Connects to another server of the cluster, for the data that it has.
   *
   * @param server {@code host:port}
   * @param clientId session whose ticket will be shown there
   * @param deadlineNs of the client's clock
   */
  ServerConnection connectData(String server, long clientId, long deadlineNs) throws IOException;

  /**
   * Connects to a server to ask it what every server answers, without a session.
   *
   * @param server {@code host:port}
   * @param deadlineNs of the client's clock
   */
  ServerConnection connectToAsk(String server, long deadlineNs) throws IOException;

  /** The name of this side in the servers' status. */
  default String clientName() {
    return ClientName.get();
  }

  /** The session's server, {@code host:port}, or the one that is asked for it next. */
  String server();

  /** The servers that were configured, {@code host:port} each; at least one. */
  default List<String> servers() {
    return List.of(server());
  }

  /**
   * The next {@link #connect} goes to another server.
   *
   * @param server {@code host:port}
   */
  void redirect(String server);

  /**
   * Counters of each transport that this side used, by the transport's name; empty after {@link
   * #close}.
   */
  Map<String, TransportCounters> counters();

  /** Of this side's buffers for file data. */
  MemoryBudget budget();

  /** Releases, if no stream has a buffer, all that the next connection can make anew. */
  void rest();

  @Override
  void close();
}
