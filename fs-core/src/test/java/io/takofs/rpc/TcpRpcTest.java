package io.takofs.rpc;

import io.takofs.transport.tcp.TcpSettings;
import io.takofs.transport.tcp.TcpTransport;

/** Calls over tcp. */
class TcpRpcTest extends RpcTests {
  @Override
  void createTransports() {
    serving = new TcpTransport(TcpSettings.DEFAULT);
    calling = new TcpTransport(TcpSettings.DEFAULT);
  }

  @Override
  String listenEndpoint() {
    return "127.0.0.1:0";
  }
}
