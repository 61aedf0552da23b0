package io.takofs.system;

class TcpFileTest extends FileTests {
  TcpFileTest() {
    super("tcp");
  }
}
