package io.takofs.client;

import io.takofs.base.TakoException;
import io.takofs.config.TakoConfig;
import io.takofs.proto.Status;
import java.net.URI;

/** Makes connections to the server of a URI over the transport that fits. */
final class RpcConnector implements Connector {
  private final String host;
  private final int port;

  private RpcConnector(String host, int port) {
    this.host = host;
    this.port = port;
  }

  static RpcConnector of(URI uri, TakoConfig config) throws TakoException {
    return new RpcConnector(uri.getHost(), uri.getPort());
  }

  @Override
  public ServerConnection connect(long clientId, long deadlineNs) throws TakoException {
    throw new TakoException(Status.UNSUPPORTED, server());
  }

  @Override
  public String server() {
    return host + ":" + port;
  }

  @Override
  public void close() {}
}
