package io.takofs.rpc;

/** Calls over a transport without threads. */
class PolledRpcTest extends RpcTests {
  @Override
  void createTransports() {
    serving = new LoopbackTransport(false);
    calling = serving;
  }

  @Override
  String listenEndpoint() {
    return "echo";
  }
}
