package io.takofs.sim;

import io.takofs.transport.ConnectionAcceptor;
import io.takofs.transport.Transport;

/** A place where a process accepts connections. */
final class SimListener implements Transport.Listener {
  private final SimTransport transport;
  private final String endpoint;
  private final ConnectionAcceptor acceptor;

  SimListener(SimTransport transport, String endpoint, ConnectionAcceptor acceptor) {
    this.transport = transport;
    this.endpoint = endpoint;
    this.acceptor = acceptor;
  }

  SimTransport transport() {
    return transport;
  }

  ConnectionAcceptor acceptor() {
    return acceptor;
  }

  @Override
  public String endpoint() {
    return endpoint;
  }

  @Override
  public void close() {
    transport.network().remove(this);
  }
}
