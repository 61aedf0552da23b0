package io.takofs.system;

/** Address on which servers under test listen. */
final class ServerAddress {
  private ServerAddress() {}

  /** The address of the RDMA device where tests have one, else this host alone. */
  static String host() {
    return System.getenv().getOrDefault("RDMA_ADDRESS", "127.0.0.1");
  }
}
