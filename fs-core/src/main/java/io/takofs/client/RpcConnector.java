package io.takofs.client;

import io.takofs.base.TakoException;
import io.takofs.config.ConfigKeys;
import io.takofs.config.TakoConfig;
import io.takofs.proto.Status;
import io.takofs.transport.Transport;
import io.takofs.transport.tcp.TcpSettings;
import io.takofs.transport.tcp.TcpTransport;
import java.io.IOException;
import java.net.URI;

/** Makes connections to the server of a URI over the transport that fits. */
final class RpcConnector implements Connector {
  private final String host;
  private final int port;
  private Transport transport;
  private LocalMemory memory;

  private RpcConnector(String host, int port) {
    this.host = host;
    this.port = port;
  }

  static RpcConnector of(URI uri, TakoConfig config) throws TakoException {
    boolean valid =
        "tako".equals(uri.getScheme()) && uri.getHost() != null && uri.getUserInfo() == null;
    if (!valid) {
      throw new TakoException(
          Status.INVALID_ARGUMENT,
          uri + " names no server; a Tako URI has the form tako://host:port/path");
    }
    int port = uri.getPort() < 0 ? ConfigKeys.SERVER_PORT.defaultValue() : uri.getPort();
    return new RpcConnector(uri.getHost(), port);
  }

  @Override
  public synchronized ServerConnection connect(long clientId, long deadlineNs) throws IOException {
    if (transport == null) {
      transport = new TcpTransport(TcpSettings.DEFAULT);
      memory = new LocalMemory(transport);
    }
    return ServerLink.connect(transport, memory, server(), server(), clientId, "tcp", deadlineNs);
  }

  @Override
  public String server() {
    return host + ":" + port;
  }

  @Override
  public synchronized void close() {
    if (memory != null) {
      memory.close();
      transport.close();
    }
  }
}
