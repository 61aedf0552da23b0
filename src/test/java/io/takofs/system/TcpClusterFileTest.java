package io.takofs.system;

/** Files with three replicas on three servers. */
class TcpClusterFileTest extends FileTests {
  TcpClusterFileTest() {
    super("tcp", 3);
  }
}
