package io.takofs.server;

import io.takofs.proto.Reply;
import io.takofs.proto.TransportStatus;
import io.takofs.transport.Transport;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * The part of the server's status about its transports and pages. A device's own counters are files
 * that its driver fills when they are read, which takes as long as the device lets it.
 *
 * <p>Thread rule: any thread, without the data server's lock.
 */
public final class TransportReport {
  private final List<Transport> transports = new CopyOnWriteArrayList<>();
  private volatile String http = "";

  /** Shows a transport that the server listens with. */
  void add(Transport transport) {
    transports.add(transport);
  }

  /** Shows where the server's pages are. */
  void setHttp(String url) {
    http = url;
  }

  /** {@code reply}, with the transports if it says how the server is. */
  Reply complete(Reply reply) {
    if (!reply.hasServerStatus()) {
      return reply;
    }
    Reply.Builder complete = reply.toBuilder();
    complete.getServerStatusBuilder().setHttp(http);
    for (Transport transport : transports) {
      complete
          .getServerStatusBuilder()
          .addTransports(
              TransportStatus.newBuilder()
                  .setTransport(transport.name())
                  .putAllCounters(transport.counters().snapshot()));
    }
    return complete.build();
  }
}
