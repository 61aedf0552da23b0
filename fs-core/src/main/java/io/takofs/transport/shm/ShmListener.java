package io.takofs.transport.shm;

import io.takofs.base.TakoException;
import io.takofs.base.Undo;
import io.takofs.proto.Status;
import io.takofs.transport.ConnectionAcceptor;
import io.takofs.transport.ConnectionAcceptor.Accept;
import io.takofs.transport.Refusal;
import io.takofs.transport.Transport;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.SelectionKey;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Accepts connections at a Unix domain socket, on the control thread. */
final class ShmListener implements Transport.Listener {
  private static final Logger LOG = LoggerFactory.getLogger(ShmListener.class);
  private static final long HANDSHAKE_TIMEOUT_NS = TimeUnit.SECONDS.toNanos(5);

  /** Pause between a failed accept and the next one. */
  static final long ACCEPT_PAUSE_NS = TimeUnit.MILLISECONDS.toNanos(500);

  private final ShmTransport transport;
  private final ConnectionAcceptor acceptor;
  private final Path path;
  private final ServerSocketChannel channel;
  private volatile int failures; // written by the control thread

  ShmListener(ShmTransport transport, Path path, ConnectionAcceptor acceptor) throws IOException {
    this.transport = transport;
    this.acceptor = acceptor;
    this.path = path;
    removeStaleSocket(path);
    try (Undo undo = new Undo()) {
      this.channel = undo.add(ServerSocketChannel.open(StandardProtocolFamily.UNIX));
      channel.bind(UnixDomainSocketAddress.of(path));
      undo.add(() -> Files.deleteIfExists(path));
      channel.configureBlocking(false);
      undo.keep();
    } catch (IOException e) {
      throw new TakoException(
          Status.INVALID_ARGUMENT, "cannot listen at " + path + ": " + e.getMessage(), e);
    }
    transport.control().watch(channel, SelectionKey.OP_ACCEPT, this::accept);
  }

  /** A socket file stays when its process dies; one that answers is in use. */
  private static void removeStaleSocket(Path path) throws IOException {
    if (!Files.exists(path)) {
      return;
    }
    try (SocketChannel probe = SocketChannel.open(StandardProtocolFamily.UNIX)) {
      probe.configureBlocking(false);
      probe.connect(UnixDomainSocketAddress.of(path));
    } catch (IOException e) {
      if (Files.isRegularFile(path) || Files.isDirectory(path)) {
        throw new TakoException(
            Status.INVALID_ARGUMENT, "cannot listen at " + path + ": it is not a socket", e);
      }
      Files.deleteIfExists(path);
      return;
    }
    throw new TakoException(
        Status.UNAVAILABLE, "cannot listen at " + path + ": another process listens there");
  }

  private void accept() {
    SocketChannel accepted;
    try {
      accepted = channel.accept();
      failures = 0;
    } catch (IOException | RuntimeException | Error e) {
      failed(e);
      return;
    }
    if (accepted == null) {
      return;
    }
    try {
      Handshake handshake = new Handshake(new ControlConnection(accepted));
      transport.control().watch(accepted, SelectionKey.OP_READ, handshake::onReadable);
      transport.control().executeAfter(HANDSHAKE_TIMEOUT_NS, handshake::onTimeout);
    } catch (IOException | RuntimeException | Error e) {
      refuse(accepted, e);
    }
  }

  /**
   * A connection that cannot be accepted, for want of file descriptors for example, stays where it
   * is, and the channel ready: so accepting rests for a while.
   */
  private void failed(Throwable cause) {
    int before = failures;
    failures = before + 1;
    if (before == 0) {
      LOG.warn(
          "cannot accept connections at {}, trying again every {} ms: {}",
          path,
          TimeUnit.NANOSECONDS.toMillis(ACCEPT_PAUSE_NS),
          cause.toString());
    }
    transport.control().pause(channel, ACCEPT_PAUSE_NS);
  }

  /** One connection that cannot be served is that peer's alone. */
  private static void refuse(SocketChannel accepted, Throwable cause) {
    LOG.debug("a connection that cannot be served is closed", cause);
    try {
      accepted.close();
    } catch (IOException e) {
      LOG.debug("closing a connection that cannot be served", e);
    }
  }

  /** Attempts to accept that have failed since one succeeded. */
  int failures() {
    return failures;
  }

  /** One connection from its acceptance on. */
  private final class Handshake {
    private final ControlConnection connection;
    private boolean done;
    private ShmQueuePair pair;

    Handshake(ControlConnection connection) {
      this.connection = connection;
    }

    void onTimeout() {
      if (!done) {
        done = true;
        LOG.warn("a peer at {} did not say what it wants in time", path);
        connection.close();
      }
    }

    void onReadable() {
      if (pair != null) {
        if (!connection.isQuiet()) {
          pair.fail("the peer closed it or died");
        }
        return;
      }
      try {
        Optional<Offer> offer = connection.receive();
        if (offer.isPresent()) {
          done = true;
          answer(offer.get());
        }
      } catch (IOException e) {
        done = true;
        LOG.info("no connection at {}: {}", path, e.getMessage());
        refuse(e);
      } catch (RuntimeException | Error e) {
        done = true;
        LOG.error("cannot connect a peer at {}", path, e);
        refuse(new TakoException(Status.INTERNAL, "the server failed: " + e, e));
      }
    }

    private void answer(Offer offer) throws IOException {
      String remoteName =
          "shm client, process " + offer.pid() + " of " + connection.peerUser().getName();
      Accept accept = acceptor.onConnect(remoteName, offer.privateData());
      pair = newPair(offer, remoteName, accept);
      try {
        acceptor.onConnected(pair, accept);
        connection.send(pair.offer(accept.privateData()));
      } catch (IOException e) {
        pair.fail("the peer vanished while the connection was made");
      } catch (RuntimeException | Error e) {
        LOG.error("cannot take the connection of {}", remoteName, e);
        pair.fail("this side failed while the connection was made");
      }
    }

    private ShmQueuePair newPair(Offer offer, String remoteName, Accept accept) throws IOException {
      try (Undo undo = new Undo()) {
        undo.add(() -> acceptor.onAborted(accept)); // it counts what it has accepted
        ShmQueuePair made = undo.add(transport.newQueuePair(accept.config()));
        made.connect(offer, connection, remoteName, Optional.of(acceptor));
        undo.keep();
        return made;
      }
    }

    private void refuse(IOException reason) {
      try {
        connection.send(Offer.refusal(Refusal.text(reason)));
      } catch (IOException e) {
        LOG.debug("the refused peer is gone", e);
      }
      connection.close();
    }
  }

  @Override
  public String endpoint() {
    return path.toString();
  }

  @Override
  public void close() {
    try {
      channel.close();
      Files.deleteIfExists(path);
    } catch (IOException e) {
      LOG.warn("closing the listener at {}: {}", path, e.toString());
    }
    transport.forget(this);
  }
}
