package io.takofs.server;

import io.takofs.base.Facts;
import io.takofs.base.TakoException;
import io.takofs.config.ConfigKeys;
import io.takofs.config.ServerList;
import io.takofs.config.TakoConfig;
import io.takofs.config.TransportChoice;
import io.takofs.server.report.HostText;
import io.takofs.transport.ConnectionAcceptor;
import io.takofs.transport.HostIdentity;
import io.takofs.transport.OfferedTransport;
import io.takofs.transport.Transport;
import io.takofs.transport.select.TransportSelector;
import io.takofs.transport.shm.ShmTransport;
import io.takofs.transport.tcp.TcpSettings;
import io.takofs.transport.tcp.TcpTransport;
import io.takofs.transport.verbs.VerbsTransport;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.UnknownHostException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
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
  private VerbsTransport verbs;
  private Transport.Listener verbsListener;
  private TcpTransport tcp;
  private Transport.Listener tcpListener;
  private InetAddress host; // of tcpListener

  /** Opens all transports and lets {@code server} serve over them. */
  void listen(DataServer server, TakoConfig config, Path shmDirectory) throws IOException {
    listenShm(server, shmDirectory);
    listenVerbs(server, config);
    listenTcp(server, config);
  }

  private void listenShm(DataServer server, Path directory) throws IOException {
    Optional<String> cause = ShmTransport.unavailabilityCause();
    if (cause.isPresent()) {
      notOffered("shm").warn(LOG, "shared memory is not offered: " + cause.get());
    } else {
      shm = ShmTransport.create(directory);
      shmListener = server.serve(shm, acceptor -> shm.listen("", acceptor));
    }
  }

  /** On the device of the server's address; one that cannot be used costs nobody the server. */
  private void listenVerbs(DataServer server, TakoConfig config) {
    try {
      InetAddress host = InetAddress.getByName(config.get(ConfigKeys.SERVER_HOST));
      Optional<String> cause =
          host.isLoopbackAddress()
              ? Optional.of("the server listens on " + host.getHostAddress() + " only")
              : VerbsTransport.unavailabilityCause();
      if (cause.isPresent()) {
        notOffered("verbs").info(LOG, "verbs is not offered: " + cause.get());
        return;
      }
      verbs = VerbsTransport.create(deviceAddress(host, config.get(ConfigKeys.VERBS_ADDRESS)));
      if (verbs.hasMemoryWindows()) {
        tryWindowBounds();
        verbsListener = server.serve(verbs, acceptor -> verbs.listen("", acceptor));
      } else {
        notOffered("verbs")
            .warn(LOG, "verbs is not offered: the device has no memory windows of type 2B");
      }
    } catch (IOException | UncheckedIOException e) {
      notOffered("verbs").warn(LOG, "verbs is not offered: " + e.getMessage());
    }
    if (verbs != null && verbsListener == null) {
      verbs.close();
      verbs = null;
    }
  }

  private static Facts notOffered(String transport) {
    return Facts.of("transport", transport).and("offered", false);
  }

  private void tryWindowBounds() {
    try {
      if (!verbs.tryWindowBounds()) {
        LOG.info("the RDMA device ignores the bounds of memory windows: each gets its own region");
      }
    } catch (IOException e) {
      LOG.warn(
          "cannot try whether the RDMA device looks at the bounds of memory windows, so each gets"
              + " its own region: {}",
          e.getMessage());
    }
  }

  private static Optional<InetAddress> deviceAddress(InetAddress host, String configured)
      throws IOException {
    if (!host.isAnyLocalAddress()) {
      return Optional.of(host);
    }
    return configured.isEmpty() ? Optional.empty() : Optional.of(InetAddress.getByName(configured));
  }

  private void listenTcp(DataServer server, TakoConfig config) throws IOException {
    int loops = Math.min(EVENT_LOOPS_MAX, Runtime.getRuntime().availableProcessors());
    tcp = new TcpTransport(TcpSettings.server(loops));
    String name = config.get(ConfigKeys.SERVER_HOST);
    List<OfferedTransport> offers = offers();
    String endpoint = ServerList.address(name, config.get(ConfigKeys.SERVER_PORT));
    tcpListener = server.serve(tcp, acceptor -> listenTcp(endpoint, acceptor, offers));
    host = InetAddress.getByName(name);
  }

  private Transport.Listener listenTcp(
      String endpoint, ConnectionAcceptor acceptor, List<OfferedTransport> offers)
      throws IOException {
    try {
      return tcp.listen(endpoint, acceptor, () -> offers);
    } catch (IOException e) {
      throw refused(e);
    }
  }

  /**
   * Tries whether a server could listen at the address of {@code config}, before it has a pool,
   * which may take minutes to be made.
   *
   * @throws TakoException UNAVAILABLE saying why not, and what to do
   */
  static void checkAddress(TakoConfig config) throws TakoException {
    String host = config.get(ConfigKeys.SERVER_HOST);
    int port = config.get(ConfigKeys.SERVER_PORT);
    try (ServerSocket socket = new ServerSocket()) {
      socket.bind(new InetSocketAddress(InetAddress.getByName(host), port));
    } catch (UnknownHostException e) {
      throw refused(new IOException("cannot listen on " + host + ": unknown host '" + host + "'"));
    } catch (IOException e) {
      String why = "cannot listen on " + host + ":" + port + ": " + e.getMessage();
      throw refused(new IOException(why, e));
    }
  }

  private static TakoException refused(IOException cause) {
    return ListenFailure.of(
        cause,
        "set "
            + ConfigKeys.SERVER_HOST
            + " to a name or an address of this machine, or to 0.0.0.0 for all of them",
        "stop what listens there, or set " + ConfigKeys.SERVER_PORT + " to a free port or 0");
  }

  private List<OfferedTransport> offers() throws IOException {
    List<OfferedTransport> offers = new ArrayList<>();
    if (shmListener != null) {
      offers.add(new OfferedTransport(shm.name(), shmListener.endpoint(), HostIdentity.local()));
    }
    if (verbsListener != null) {
      offers.add(new OfferedTransport(verbs.name(), verbsListener.endpoint(), ""));
    }
    return offers;
  }

  /** A selector among these transports, for connections to other servers. */
  TransportSelector selector(TransportChoice choice) {
    List<Transport> better = new ArrayList<>();
    if (shm != null) {
      better.add(shm);
    }
    if (verbs != null) {
      better.add(verbs);
    }
    return TransportSelector.among(choice, tcp, better);
  }

  /** {@code tako://host:port}; the machine's name where the server listens at all addresses. */
  URI uri() {
    String endpoint = tcpListener.endpoint();
    return URI.create(
        "tako://"
            + (host.isAnyLocalAddress() ? HostText.of(host, ServerList.port(endpoint)) : endpoint));
  }

  /** For people. */
  String text() {
    return (shmListener == null ? "" : "shm, ") + (verbsListener == null ? "" : "verbs, ") + "tcp";
  }

  /** No new connections from now on. */
  void stopListening() {
    for (Transport.Listener listener : Arrays.asList(tcpListener, verbsListener, shmListener)) {
      if (listener != null) {
        listener.close();
      }
    }
  }

  @Override
  public void close() {
    for (Transport transport : Arrays.asList(tcp, verbs, shm)) {
      if (transport != null) {
        transport.close();
      }
    }
  }
}
