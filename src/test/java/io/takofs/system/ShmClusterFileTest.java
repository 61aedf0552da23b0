package io.takofs.system;

/** Files with three replicas on three servers. */
class ShmClusterFileTest extends FileTests {
  ShmClusterFileTest() {
    super("shm", 3);
  }
}
