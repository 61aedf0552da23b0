package io.takofs.system;

class ShmWholeFileTest extends WholeFileTests {
  ShmWholeFileTest() {
    super("shm");
  }
}
