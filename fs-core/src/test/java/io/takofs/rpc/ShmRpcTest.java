package io.takofs.rpc;

import io.takofs.transport.shm.ShmTransport;
import java.io.IOException;

/** Calls over shared memory. */
class ShmRpcTest extends RpcTests {
  @Override
  void createTransports() throws IOException {
    serving = ShmTransport.create();
    calling = ShmTransport.create();
  }

  @Override
  String listenEndpoint() {
    return "";
  }
}
