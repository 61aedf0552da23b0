package io.takofs.client.internal.zone;

/** The server's data zone as one connection reaches it: by load and store, or by transfers. */
public sealed interface DataZone extends AutoCloseable permits MappedZone, RemoteZone {
  /** Whether it may still be used; once it may not, a new one is opened. */
  boolean isOpen();

  @Override
  void close();
}
