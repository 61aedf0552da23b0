package io.takofs.system;

/** Files with three replicas on three servers. */
class ShmClusterWholeFileTest extends WholeFileTests {
  ShmClusterWholeFileTest() {
    super("shm", 3);
  }
}
