package io.takofs.rpc;

/** Calls over a transport with a thread of its own. */
class EventDrivenRpcTest extends RpcTests {
  @Override
  void createTransports() {
    serving = new LoopbackTransport(true);
    calling = serving;
  }

  @Override
  String listenEndpoint() {
    return "echo";
  }
}
