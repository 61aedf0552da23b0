package io.takofs.config;

/** Values of {@link ConfigKeys#TRANSPORT}. */
public enum TransportChoice {
  /** Shared memory when the server is on this host and offers it, TCP otherwise. */
  AUTO,
  SHM,
  TCP
}
