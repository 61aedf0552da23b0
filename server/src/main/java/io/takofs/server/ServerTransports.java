package io.takofs.server;

import io.takofs.base.TakoException;
import io.takofs.config.ConfigKeys;
import io.takofs.config.TakoConfig;
import io.takofs.proto.Status;
import io.takofs.transport.ConnectionAcceptor;
import io.takofs.transport.HostIdentity;
import io.takofs.transport.OfferedTransport;
import io.takofs.transport.Transport;
import io.takofs.transport.shm.ShmTransport;
import io.takofs.transport.tcp.TcpSettings;
import io.takofs.transport.tcp.TcpTransport;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The transports of a server and where they listen.
 *
 * <p>Thread rule: one thread.
 */
final class ServerTransports implements AutoCloseable {
  /** Threads that serve tcp connections, at most. */
  private static final int EVENT_LOOPS_MAX = 8;

  private static final Logger LOG = LoggerFactory.getLogger(ServerTransports.class);

  private ShmTransport shm;
  private Transport.Listener shmListener;
  private TcpTransport tcp;
  private Transport.Listener tcpListener;

  /** Opens all transports and lets {@code server} serve over them. */
  void listen(DataServer server, TakoConfig config, Path shmDirectory) throws IOException {
    Optional<String> cause = ShmTransport.unavailabilityCause();
    if (cause.isPresent()) {
      LOG.warn("shared memory is not offered: {}; clients of this host use tcp", cause.get());
    } else {
      shm = ShmTransport.create(shmDirectory);
      shmListener = shm.listen("", server.serve(shm));
    }
    int loops = Math.min(EVENT_LOOPS_MAX, Runtime.getRuntime().availableProcessors());
    tcp =
        new TcpTransport(
            new TcpSettings(
                loops,
                TcpSettings.DEFAULT.operationTimeoutNs(),
                TcpSettings.DEFAULT.receiverTimeoutNs()));
    String host = config.get(ConfigKeys.SERVER_HOST);
    int port = config.get(ConfigKeys.SERVER_PORT);
    List<OfferedTransport> offers = offers();
    ConnectionAcceptor acceptor = server.serve(tcp);
    try {
      tcpListener =
          tcp.listen(
              (host.indexOf(':') >= 0 ? "[" + host + "]" : host) + ":" + port,
              acceptor,
              () -> offers);
    } catch (IOException e) {
      throw new TakoException(
          Status.UNAVAILABLE,
          e.getMessage()
              + ": stop what listens there, or set "
              + ConfigKeys.SERVER_HOST
              + " to an address of this machine and "
              + ConfigKeys.SERVER_PORT
              + " to a free port or 0",
          e);
    }
  }

  private List<OfferedTransport> offers() throws IOException {
    return shmListener == null
        ? List.of()
        : List.of(new OfferedTransport(shm.name(), shmListener.endpoint(), HostIdentity.local()));
  }

  /** {@code tako://host:port}. */
  URI uri() {
    return URI.create("tako://" + tcpListener.endpoint());
  }

  /** For people. */
  String text() {
    return shmListener == null ? "tcp" : "shm and tcp";
  }

  /** No new connections from now on. */
  void stopListening() {
    if (tcpListener != null) {
      tcpListener.close();
    }
    if (shmListener != null) {
      shmListener.close();
    }
  }

  @Override
  public void close() {
    if (tcp != null) {
      tcp.close();
    }
    if (shm != null) {
      shm.close();
    }
  }
}
