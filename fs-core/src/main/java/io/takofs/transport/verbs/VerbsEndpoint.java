package io.takofs.transport.verbs;

import static java.util.Objects.requireNonNull;

import io.takofs.transport.ConnectionAcceptor;
import io.takofs.transport.ConnectionAcceptor.Accept;
import io.takofs.transport.Refusal;
import io.takofs.transport.Transport;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Accepts connections at an address of the device, on the control path's event thread. */
final class VerbsEndpoint implements Transport.Listener, ConnectionEvents {
  private static final Logger LOG = LoggerFactory.getLogger(VerbsEndpoint.class);

  private final VerbsTransport transport;
  private final ConnectionAcceptor acceptor;
  private final VerbsListener listener;
  private final String endpoint;

  VerbsEndpoint(VerbsTransport transport, InetSocketAddress address, ConnectionAcceptor acceptor)
      throws IOException {
    this.transport = transport;
    this.acceptor = acceptor;
    this.listener = transport.control().listen(address, this);
    this.endpoint = Endpoints.format(listener.address());
  }

  @Override
  public void onRequest(VerbsConnection connection, byte[] privateData) {
    String remoteName = "an unknown verbs client";
    Accept accept = null;
    VerbsQueuePair pair = null;
    try {
      remoteName = "verbs client at " + Endpoints.format(connection.remoteAddress());
      accept = requireNonNull(acceptor.onConnect(remoteName, privateData), "accept");
      pair = transport.newQueuePair(accept.config(), connection, remoteName, Optional.of(acceptor));
    } catch (IOException e) {
      refuse(connection, e);
    } catch (RuntimeException | Error e) {
      LOG.error("cannot take the connection of {}", remoteName, e);
      refuse(connection, new IOException("the server failed: " + e));
    }
    if (pair != null) {
      complete(connection, pair, accept, privateData);
    } else if (accept != null) {
      acceptor.onAborted(accept);
    }
  }

  private static void refuse(VerbsConnection connection, IOException reason) {
    try {
      connection.reject(RefusalData.encode(Refusal.text(reason)));
    } catch (IOException e) {
      LOG.debug("the refused peer is gone", e);
    }
    connection.close();
  }

  private void complete(
      VerbsConnection connection, VerbsQueuePair pair, Accept accept, byte[] privateData) {
    pair.setRemotePrivateData(privateData);
    try {
      acceptor.onConnected(pair, accept);
      connection.accept(accept.privateData());
      // The device is ready to send once the acceptance is under way.
      pair.establish();
    } catch (IOException e) {
      pair.fail("the peer vanished while the connection was made: " + e.getMessage());
    } catch (RuntimeException | Error e) {
      LOG.error("cannot take the connection of {}", pair.remoteName(), e);
      pair.fail("this side failed while the connection was made");
    }
  }

  @Override
  public void onEstablished(VerbsConnection connection) {}

  @Override
  public void onDisconnected(VerbsConnection connection, String reason) {
    transport.onDisconnected(connection, reason);
  }

  @Override
  public String endpoint() {
    return endpoint;
  }

  @Override
  public void close() {
    if (transport.forget(this)) {
      listener.close();
    }
  }
}
