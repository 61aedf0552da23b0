package io.takofs.client;

/** The server's data zone as one connection reaches it: by load and store, or by transfers. */
sealed interface DataZone extends AutoCloseable permits MappedZone, RemoteZone {
  /** Whether it may still be used; once it may not, a new one is opened. */
  boolean isOpen();

  @Override
  void close();
}
