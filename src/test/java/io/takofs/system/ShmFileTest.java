package io.takofs.system;

class ShmFileTest extends FileTests {
  ShmFileTest() {
    super("shm");
  }
}
