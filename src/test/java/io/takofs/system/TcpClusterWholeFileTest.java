package io.takofs.system;

/** Files with three replicas on three servers. */
class TcpClusterWholeFileTest extends WholeFileTests {
  TcpClusterWholeFileTest() {
    super("tcp", 3);
  }
}
