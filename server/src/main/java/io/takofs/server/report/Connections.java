package io.takofs.server.report;

import io.takofs.proto.ServerStatus;

/** The number of connections of a server, those included that its status has no room for. */
public final class Connections {
  private Connections() {}

  /** All of them. */
  public static long count(ServerStatus status) {
    return status.getConnectionsCount() + leftOut(status);
  }

  /** Those that the status does not list. */
  public static long leftOut(ServerStatus status) {
    return status.getConnectionsLeftOutMap().values().stream().mapToLong(Long::longValue).sum();
  }
}
