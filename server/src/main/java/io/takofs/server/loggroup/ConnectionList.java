package io.takofs.server.loggroup;

import io.takofs.proto.ConnectionStatus;
import io.takofs.proto.ServerStatus;
import io.takofs.server.ProcessReport;
import io.takofs.server.namespace.state.Limits;

/**
 * The connections in a status: as many as fit a reply beside the rest of it, and how many more
 * there are.
 *
 * <p>Thread rule: one thread.
 */
final class ConnectionList {
  /** For what {@link ProcessReport} adds and for the connections that are counted only. */
  static final int TRANSPORTS_BYTES_MAX = 8 << 10;

  /** Tag and length of one. */
  private static final int FRAME_BYTES = 4;

  private final ServerStatus.Builder status;
  private int room;

  /** Adds to {@code status}, which has everything else but its transports. */
  ConnectionList(ServerStatus.Builder status) {
    this.status = status;
    this.room =
        Limits.REPLY_LIST_MAX - TRANSPORTS_BYTES_MAX - status.buildPartial().getSerializedSize();
  }

  void add(ConnectionStatus connection) {
    room -= connection.getSerializedSize() + FRAME_BYTES;
    if (room >= 0) {
      status.addConnections(connection);
      return;
    }
    String transport = connection.getTransport();
    status.putConnectionsLeftOut(
        transport, status.getConnectionsLeftOutOrDefault(transport, 0) + 1);
  }
}
