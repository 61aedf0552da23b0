package io.takofs.config;

/** Values of {@link ConfigKeys#TRANSPORT}. */
public enum TransportChoice {
  /**
   * Shared memory when the server is on this host, verbs when both hosts have an RDMA device, TCP
   * otherwise.
   */
  AUTO,
  SHM,
  VERBS,
  TCP
}
