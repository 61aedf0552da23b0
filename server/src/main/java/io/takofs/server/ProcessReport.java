package io.takofs.server;

import io.takofs.base.Clock;
import io.takofs.proto.Reply;
import io.takofs.proto.ServerStatus;
import io.takofs.proto.TransportStatus;
import io.takofs.transport.Transport;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;

/**
 * The part of the server's status about its process, whether it leads or not: for how long it runs,
 * its transports and pages. A device's own counters are files that its driver fills when they are
 * read, which takes as long as the device lets it.
 *
 * <p>Thread rule: any thread, without the data server's lock.
 */
public final class ProcessReport {
  private final Clock clock;
  private final long startedNs;
  private final List<Transport> transports = new CopyOnWriteArrayList<>();
  private volatile String http = "";

  /** The process starts now. */
  ProcessReport(Clock clock) {
    this.clock = clock;
    this.startedNs = clock.nanoTime();
  }

  /** Shows a transport that the server listens with. */
  void add(Transport transport) {
    transports.add(transport);
  }

  /** Shows where the server's pages are. */
  void setHttp(String url) {
    http = url;
  }

  /** {@code reply}, with all that if it says how the server is. */
  Reply complete(Reply reply) {
    if (!reply.hasServerStatus()) {
      return reply;
    }
    Reply.Builder complete = reply.toBuilder();
    ServerStatus.Builder status = complete.getServerStatusBuilder().setHttp(http);
    status.setUptimeMs(TimeUnit.NANOSECONDS.toMillis(clock.nanoTime() - startedNs));
    for (Transport transport : transports) {
      status.addTransports(
          TransportStatus.newBuilder()
              .setTransport(transport.name())
              .putAllCounters(transport.counters().snapshot()));
    }
    return complete.build();
  }
}
