package io.takofs.system;

class TcpWholeFileTest extends WholeFileTests {
  TcpWholeFileTest() {
    super("tcp");
  }
}
